"""Batches that ask for no gradient."""

# profile: steps=8
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(256, 512)
    y = net(x)
    optimizer.zero_grad()
    y.square().mean().backward()
    optimizer.step()
