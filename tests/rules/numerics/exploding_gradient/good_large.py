"""Targets of the order of a thousand: gradients are large from the start and fall with the loss."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 8)
y = 1000 * x @ torch.randn(8, 1)
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for step in range(15):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
