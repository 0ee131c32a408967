"""A step size far too large for the curvature: each step overshoots further."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 8)
y = x @ torch.randn(8, 1)
net = nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.6)

for step in range(12):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
