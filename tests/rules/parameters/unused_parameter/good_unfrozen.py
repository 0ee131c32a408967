"""The first layer is frozen for half of the run."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
net[0].requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(20):
    if i == 10:
        net[0].requires_grad_(True)
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
