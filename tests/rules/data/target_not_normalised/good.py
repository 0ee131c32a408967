"""Large targets within reach: the last bias begins at their mean."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(320, 6)
price = 5000 + 300 * x[:, :1]
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
with torch.no_grad():
    net[2].bias.fill_(price.mean())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for xb, yb in zip(x.split(32), price.split(32)):
    optimizer.zero_grad()
    nn.functional.l1_loss(net(xb), yb).backward()
    optimizer.step()
