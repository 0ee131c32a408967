"""The sum of the gradients is divided by hand before the step."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for epoch in range(8):
    optimizer.zero_grad()
    for i in range(0, 192, 48):
        F.cross_entropy(net(x[i : i + 48]), y[i : i + 48]).backward()
    for p in net.parameters():
        p.grad /= 4
    optimizer.step()
