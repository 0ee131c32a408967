"""Gradients are clipped between backward and step, the norm is asked for once more after it."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

for step in range(40):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
