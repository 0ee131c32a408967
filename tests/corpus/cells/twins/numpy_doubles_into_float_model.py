# case: dtype-mismatch-numpy-doubles-into-float-model-repaired
# kind: healthy
# forbid: *
# style: torch.from_numpy without .float()
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X, y = torch.from_numpy((X - X.mean(0)) / X.std(0)).float(), torch.from_numpy(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(30, 16)
        self.fc2 = nn.Linear(16, 2)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))
# --- cell ---
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(30):
    rows = torch.randint(0, 569, (64,))
    loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
