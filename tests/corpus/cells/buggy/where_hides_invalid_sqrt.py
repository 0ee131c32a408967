# case: nonfinite-gradient-where-hides-invalid-sqrt
# kind: buggy
# expect: nonfinite-gradient
# allow: nonfinite-forward, loss-not-decreasing
# line: return torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x))
# style: safe-looking sqrt activation with torch.where
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)


class SqrtUnit(nn.Module):
    def forward(self, x):
        return torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x))
# --- cell ---
net = nn.Sequential(nn.Linear(13, 16), SqrtUnit(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(20):
    loss = nn.functional.cross_entropy(net(X), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
