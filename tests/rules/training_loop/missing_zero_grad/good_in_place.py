"""The gradients are reset by hand, in place, as in courses that write SGD themselves."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for step in range(20):
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    for parameter in net.parameters():
        parameter.grad.zero_()
