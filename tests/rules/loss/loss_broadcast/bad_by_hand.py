"""A squared error written by hand broadcasts in silence."""

# expect-line: loss = ((net(x) - y) ** 2).mean()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(48, 4)
y = x.sum(1)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for step in range(8):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
