"""A task after the other, each with an optimizer of its own and several passes over its rows."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(400, 8), torch.randint(0, 4, (400,))
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
for task in range(4):
    rows = torch.where(y == task)[0]
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(5):
        for batch in rows[torch.randperm(len(rows))].split(32):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
            loss.backward()
            optimizer.step()
