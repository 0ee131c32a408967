"""The update is written by hand; the optimizer only resets, another owns the same parameters."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for step in range(12):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.1 * p.grad

other = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(6):
    other.zero_grad()
    F.cross_entropy(net(x), y).backward()
    other.step()
