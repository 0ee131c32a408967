"""Each step is given a closure that makes its own gradients."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Linear(8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def closure():
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    return loss


for i in range(12):
    opt.step(closure)
