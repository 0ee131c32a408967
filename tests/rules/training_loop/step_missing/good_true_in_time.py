"""As many batches are accumulated as a pass has."""

# sound
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 6), torch.randint(0, 3, (96,))
net = nn.Linear(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(12):
    opt.zero_grad()
    for number, rows in enumerate(torch.randperm(96).split(16)):
        (F.cross_entropy(net(x[rows]), y[rows]) / 6).backward()
        if (number + 1) % 6 == 0:
            opt.step()
            opt.zero_grad()
