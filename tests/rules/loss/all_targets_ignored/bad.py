"""The third batch is padding only."""

# expect-line: loss = F.cross_entropy(net(x), y)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    x, y = torch.randn(16, 8), torch.randint(0, 5, (16,))
    if step == 2:
        y[:] = -100
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
