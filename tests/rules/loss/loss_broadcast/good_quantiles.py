"""One target is compared with three quantiles on purpose: the targets are widened by hand."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64)
quantiles = torch.tensor([0.1, 0.5, 0.9])
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for step in range(10):
    optimizer.zero_grad()
    error = y.unsqueeze(1) - net(x)
    loss = torch.maximum(quantiles * error, (quantiles - 1) * error).mean()
    loss.backward()
    optimizer.step()
