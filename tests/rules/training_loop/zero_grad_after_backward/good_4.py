"""Batches add up before a step; the reset follows it."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)

for epoch in range(4):
    for i in range(12):
        rows = slice(16 * i, 16 * i + 16)
        loss = F.cross_entropy(net(x[rows]), y[rows])
        (loss / 3).backward()
        if i % 3 == 2:
            opt.step()
            opt.zero_grad()
