"""Clipping inside the closure of LBFGS, and of two networks in turn."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4)
other = nn.Linear(8, 2)
other_opt = torch.optim.SGD(other.parameters(), lr=0.1)


def closure():
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    return loss


for step in range(8):
    optimizer.step(closure)
    other_opt.zero_grad()
    F.cross_entropy(other(x), y).backward()
    nn.utils.clip_grad_norm_(other.parameters(), 1.0)
    other_opt.step()
