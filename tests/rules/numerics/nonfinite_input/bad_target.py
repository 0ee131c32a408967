"""The inputs are sound and a target is not: a log price of zero."""

import torch
from torch import nn

torch.manual_seed(0)
x, price = torch.randn(128, 6), torch.rand(128, 1)
price[40] = 0.0
y = price.log()
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(xb), yb)
    loss.backward()
    optimizer.step()
