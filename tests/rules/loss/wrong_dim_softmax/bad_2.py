"""A module with the wrong dimension, the logarithm and the sum by hand."""

# expect-module: net.3
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5), nn.Softmax(dim=0))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(6):
    x, y = torch.randn(32, 8), F.one_hot(torch.randint(0, 5, (32,)), 5).float()
    optimizer.zero_grad()
    loss = -(y * torch.log(net(x) + 1e-9)).sum(1).mean()
    loss.backward()
    optimizer.step()
