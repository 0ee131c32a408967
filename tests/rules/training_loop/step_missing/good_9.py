"""A newer optimizer owns the same parameters and steps; another updates them by hand."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
newer = torch.optim.Adam(net.parameters(), lr=0.01)
other = nn.Linear(8, 2)
others = torch.optim.SGD(other.parameters(), lr=0.01)
# --- cell ---
for step in range(12):
    net.zero_grad()
    F.cross_entropy(net(x), y).backward()
    newer.step()

for step in range(12):
    other.zero_grad()
    F.cross_entropy(other(x), y).backward()
    with torch.no_grad():
        for p in other.parameters():
            p -= 0.1 * p.grad
