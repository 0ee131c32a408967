"""Gradients are made again after a look around, as sharpness-aware steps do; the same lines make both."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def gradients():
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()


# --- cell ---
for i in range(20):
    gradients()
    away = [0.05 * torch.randn_like(p) for p in net.parameters()]
    torch._foreach_add_([p.data for p in net.parameters()], away)
    gradients()
    torch._foreach_sub_([p.data for p in net.parameters()], away)
    opt.step()
