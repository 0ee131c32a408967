"""Each epoch builds its own optimizer."""

# expect-line: optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
for epoch in range(6):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for i in range(0, 192, 64):
        optimizer.zero_grad()
        F.cross_entropy(net(x[i : i + 64]), y[i : i + 64]).backward()
        optimizer.step()
