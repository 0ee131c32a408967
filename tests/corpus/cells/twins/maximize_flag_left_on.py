# case: ascending-loss-maximize-flag-left-on-repaired
# kind: healthy
# forbid: *
# style: optimizer line copied from a policy-gradient notebook
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)
net = nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3))
# --- cell ---
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(40):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(X), y)
    loss.backward()
    opt.step()
print(loss.item())
