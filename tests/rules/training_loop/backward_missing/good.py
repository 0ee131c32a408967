"""Steps that only move a schedule, to draw it, before the training."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4)
rates = []
for step in range(8):
    optimizer.step()
    scheduler.step()
    rates.append(scheduler.get_last_lr()[0])

for group in optimizer.param_groups:
    group["lr"] = 0.1
for step in range(8):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
