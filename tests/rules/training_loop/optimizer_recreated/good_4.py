"""A sweep over one model object: it gets its first weights again for each rate."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
start = copy.deepcopy(net.state_dict())
for lr in (0.001, 0.003, 0.01, 0.03):
    net.load_state_dict(start)
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for step in range(8):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
