"""Gradients of four batches make a step, and the schedule goes on with each batch: it begins before the optimizer."""

# expect-line: schedule.step()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(320, 6), torch.randint(0, 3, (320,))
net = nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
for i in range(40):
    (F.cross_entropy(net(x[8 * i : 8 * i + 8]), y[8 * i : 8 * i + 8]) / 4).backward()
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
    schedule.step()
