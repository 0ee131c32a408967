"""Holes are filled before the model sees them, and the mask comes along."""

import torch
from torch import nn

torch.manual_seed(0)
raw, y = torch.randn(128, 6), torch.randn(128, 1)
raw[raw > 1.5] = float("nan")
x = torch.cat([raw.nan_to_num(0.0), raw.isnan().float()], dim=1)
net = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(xb), yb)
    loss.backward()
    optimizer.step()
