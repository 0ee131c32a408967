"""The square root at zero: its value is finite, its slope is not."""

# expect-line: distance = torch.sqrt((net(a) - net(b)).pow(2).sum(1))
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
a, b = torch.randn(16, 4), torch.randn(16, 4)
b[5] = a[5]

for step in range(5):
    optimizer.zero_grad()
    distance = torch.sqrt((net(a) - net(b)).pow(2).sum(1))
    loss = distance.mean()
    loss.backward()
    optimizer.step()
