"""Gradients are collected for their own sake, as for the importance of weights, and training goes on after."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()

importance = {name: torch.zeros_like(p) for name, p in net.named_parameters()}
for i in range(0, 192, 32):
    net.zero_grad()
    F.cross_entropy(net(x[i : i + 32]), y[i : i + 32]).backward()
    for name, p in net.named_parameters():
        importance[name] += p.grad.detach() ** 2
