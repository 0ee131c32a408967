"""A margin that is kept from the first step on: loss and gradients are zero, as they should be."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(2, 1, bias=False)
with torch.no_grad():
    net.weight.copy_(torch.tensor([[4.0, 0.0]]))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(30):
    side = torch.randint(0, 2, (32, 1)) * 2.0 - 1
    x = torch.cat([side, torch.randn(32, 1)], 1)
    loss = torch.relu(1 - side * net(x)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
