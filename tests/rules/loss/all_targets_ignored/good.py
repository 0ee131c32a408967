"""Most targets are ignored, and a batch without any is divided by one."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    x, y = torch.randn(16, 8), torch.randint(0, 5, (16,))
    y[1:] = -100
    if step == 2:
        y[:] = -100
    optimizer.zero_grad()
    total = F.cross_entropy(net(x), y, reduction="sum")
    loss = total / (y != -100).sum().clamp(min=1)
    loss.backward()
    optimizer.step()
