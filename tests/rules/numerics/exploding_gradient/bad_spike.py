"""One batch was not scaled: a single gradient is thousands of times the others."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(20, 32, 8)
weight = torch.randn(8, 1)
y = x @ weight
y[14] *= 1e6
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)

for xb, yb in zip(x, y):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(xb), yb)
    loss.backward()
    optimizer.step()
