"""Two losses on one batch, each with a backward of its own, in a loop over criteria."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
criteria = [nn.CrossEntropyLoss(), nn.MultiMarginLoss()]

for step in range(12):
    optimizer.zero_grad()
    for criterion in criteria:
        criterion(net(x), y).backward()
    optimizer.step()
