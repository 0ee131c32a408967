"""Probabilities are the target, not the input."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(128, 8)
target = F.softmax(3 * torch.randn(128, 5), dim=1)
net = nn.Linear(8, 5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for step in range(10):
    optimizer.zero_grad()
    F.cross_entropy(net(x), target, label_smoothing=0.1).backward()
    optimizer.step()
