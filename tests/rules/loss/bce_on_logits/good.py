"""Probabilities from a sigmoid, clamped against rounding."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    x, y = torch.randn(64, 8), torch.randint(0, 2, (64, 1)).float()
    optimizer.zero_grad()
    loss = F.binary_cross_entropy(torch.sigmoid(net(x)).clamp(1e-6, 1 - 1e-6), y)
    loss.backward()
    optimizer.step()
