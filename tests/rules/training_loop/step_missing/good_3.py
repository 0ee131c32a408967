"""Batches are added up for long before the only step of a pass."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)

for epoch in range(6):
    optimizer.zero_grad()
    for i in range(0, 192, 8):
        loss = F.cross_entropy(net(x[i : i + 8]), y[i : i + 8], reduction="sum") / len(x)
        loss.backward()
    optimizer.step()
