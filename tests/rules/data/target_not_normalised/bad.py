"""Prices of houses, as they are."""

# expect-line: loss = nn.functional.mse_loss(net(x[i : i + 32]), price[i : i + 32])
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(320, 6)
price = 250_000 + 60_000 * x[:, :1]
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(4):
    for i in range(0, 320, 32):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x[i : i + 32]), price[i : i + 32])
        loss.backward()
        optimizer.step()
