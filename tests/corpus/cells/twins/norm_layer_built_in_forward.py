# case: module-created-in-forward-norm-layer-built-in-forward-repaired
# kind: healthy
# forbid: *
# style: batch normalisation constructed on the fly between two layers
# --- setup ---
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y).float()


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(30, 20)
        self.bn = nn.BatchNorm1d(20)
        self.fc2 = nn.Linear(20, 1)

    def forward(self, x):
        h = self.fc1(x)
        h = self.bn(h)
        return self.fc2(torch.relu(h)).squeeze(1)
# --- cell ---
net = Net()
bce = nn.BCEWithLogitsLoss()
adam = torch.optim.Adam(net.parameters(), 0.01)
for step in range(40):
    rows = torch.randint(0, len(X), (64,))
    adam.zero_grad()
    loss = bce(net(X[rows]), y[rows])
    loss.backward()
    adam.step()
print(loss.item())
