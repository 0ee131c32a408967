"""The first backward stops at the representations; a second one brings their gradients to the model."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)

net = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(10):
    opt.zero_grad()
    with torch.no_grad():
        reps = net(x)
    r = reps.detach().requires_grad_()
    loss = F.cross_entropy(r @ r.T / 0.5, torch.arange(96))
    loss.backward()
    (net(x) * r.grad).sum().backward()
    opt.step()
