# case: shape-mismatch-skip-connection-of-other-width
# kind: buggy
# expect: shape-mismatch
# raises: RuntimeError
# line: return self.out(h + x)
# style: residual addition of tensors with 24 and 30 columns
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(30, 24), nn.ReLU())
        self.out = nn.Linear(24, 2)

    def forward(self, x):
        h = self.block(x)
        return self.out(h + x)
# --- cell ---
net = Residual()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for rows in torch.randperm(569).split(50):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
    loss.backward()
    opt.step()
