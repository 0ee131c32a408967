"""A new model and a new optimizer for every fold."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

for fold in range(3):
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    xs, ys = x[fold * 32 : (fold + 1) * 32], y[fold * 32 : (fold + 1) * 32]
    for i in range(8):
        opt.zero_grad()
        F.cross_entropy(net(xs), ys).backward()
        opt.step()
