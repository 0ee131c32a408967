"""A quarter of the units is silent, as it happens; the layer does its work."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
with torch.no_grad():
    net[0].bias[:8] = -40.0
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(512, 8), torch.randn(512, 1)

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
