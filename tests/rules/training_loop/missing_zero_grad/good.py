"""Gradients of four batches are added up on purpose, and reset after the step."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(320, 8), torch.randint(0, 3, (320,))
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
accumulate = 4

for i, (xb, yb) in enumerate(zip(x.split(8), y.split(8))):
    loss = nn.functional.cross_entropy(net(xb), yb) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
