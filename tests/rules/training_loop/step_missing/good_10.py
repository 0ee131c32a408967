"""What a class looks for is asked of a model in evaluation mode."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
other = nn.Linear(8, 2)
others = torch.optim.SGD(other.parameters(), lr=0.1)
# --- cell ---
for step in range(8):
    others.zero_grad()
    F.cross_entropy(other(x), y).backward()
    others.step()

net.eval()
for i in range(0, 192, 8):
    net.zero_grad()
    F.cross_entropy(net(x[i : i + 8]), y[i : i + 8]).backward()
