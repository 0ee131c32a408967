"""One optimizer warms the model up, another goes on."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
for make in (lambda p: torch.optim.Adam(p, lr=1e-2), lambda p: torch.optim.SGD(p, lr=1e-2)):
    opt = make(net.parameters())
    for i in range(10):
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
