"""A decay by hand is planned for epochs, and counted in steps."""

# expect-line: rate = 0.05 * max(0.0, 1 - step / EPOCHS) ** 0.9
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
EPOCHS, BATCHES = 6, 10


def adjust(optimizer, step):
    rate = 0.05 * max(0.0, 1 - step / EPOCHS) ** 0.9
    for group in optimizer.param_groups:
        group["lr"] = rate


x, y = torch.randn(160, 6), torch.randint(0, 3, (160,))
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(EPOCHS):
    for number, rows in enumerate(torch.randperm(160).split(16)):
        adjust(opt, number + epoch * BATCHES)
        opt.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        opt.step()
