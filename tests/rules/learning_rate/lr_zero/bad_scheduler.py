"""A scheduler of one's own reaches zero after as many batches as it was to have epochs."""

# expect-line: schedule = Polynomial(optimizer, total=4)
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LRScheduler


class Polynomial(LRScheduler):
    def __init__(self, optimizer, total, power=0.9):
        self.total, self.power = total, power
        super().__init__(optimizer)

    def get_lr(self):
        left = max(0.0, 1 - self.last_epoch / self.total)
        return [rate * left**self.power for rate in self.base_lrs]


torch.manual_seed(0)
x, y = torch.randn(160, 6), torch.randint(0, 3, (160,))
net = nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = Polynomial(optimizer, total=4)
for epoch in range(4):
    for i in range(0, 160, 16):
        optimizer.zero_grad()
        F.cross_entropy(net(x[i : i + 16]), y[i : i + 16]).backward()
        optimizer.step()
        schedule.step()
