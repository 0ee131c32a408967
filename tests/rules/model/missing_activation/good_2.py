"""Depthwise and pointwise, one by three and three by one: convolutions in factors."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 8, 2, stride=2), nn.Conv2d(8, 8, 3, groups=8), nn.Conv2d(8, 16, 1), nn.ReLU(),
    nn.Conv2d(16, 16, (1, 3)), nn.Conv2d(16, 16, (3, 1)), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3),
)  # fmt: skip
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(320, 1, 12, 12), torch.randint(0, 3, (320,))

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
