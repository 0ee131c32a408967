"""An earlier cell gathered gradients: one step uses them, and the training goes on from there."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for part in range(4):
    (F.cross_entropy(net(x[part::4]), y[part::4]) / 4).backward()
# --- cell ---
optimizer.step()
optimizer.zero_grad()
for step in range(8):
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
