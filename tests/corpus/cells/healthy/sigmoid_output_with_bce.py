# case: healthy-sigmoid-output-with-bce
# kind: healthy
# forbid: *
# style: sigmoid in the model and plain BCELoss
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
dl = DataLoader(
    TensorDataset(torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y).float().unsqueeze(1)), 64, shuffle=True
)


class Logistic(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(30, 1)

    def forward(self, x):
        return torch.sigmoid(self.lin(x))


clf = Logistic()
# --- cell ---
bce = nn.BCELoss()
opt = torch.optim.SGD(clf.parameters(), lr=0.2)
for epoch in range(6):
    for x, t in dl:
        p = clf(x)
        loss = bce(p, t)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), ((p > 0.5) == t.bool()).float().mean().item())
