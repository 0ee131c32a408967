"""A scalar target, and a baseline that is the mean of the batch."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(32, 4)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for step in range(8):
    optimizer.zero_grad()
    value = net(x)
    loss = ((value - 0.7) ** 2).mean() + 0.1 * ((value - value.mean()) ** 2).mean()
    loss.backward()
    optimizer.step()
