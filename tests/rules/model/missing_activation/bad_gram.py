"""Codes that are cut in halves and compared with themselves come from two layers with nothing between."""

# expect-module: net.1
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 16))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(320, 8)

for rows in x.split(32):
    optimizer.zero_grad()
    mean, spread = net(rows).chunk(2, dim=1)
    likeness = mean @ mean.T - spread.mean()
    loss = (likeness - rows @ rows.T / 8).pow(2).mean()
    loss.backward()
    optimizer.step()
