"""The sigmoid at the end of a confident classifier."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
x = torch.randn(512, 8) * 3
y = (x[:, :1] > 0).float()

for epoch in range(8):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy(net(xb), yb).backward()
        optimizer.step()
