"""After a first training the weights become bfloat16, and the steps of the second one are large enough."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(256, 10), torch.randint(0, 3, (256,))
net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()

net = net.bfloat16()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    optimizer.zero_grad()
    F.cross_entropy(net(x.bfloat16() * 1.5).float(), y).backward()
    optimizer.step()
