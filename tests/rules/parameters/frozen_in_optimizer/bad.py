"""The body is frozen, and all parameters are given to the optimizer."""

# expect-module: net.0
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
net[0].requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
