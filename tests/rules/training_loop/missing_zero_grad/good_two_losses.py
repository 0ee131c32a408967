"""Two losses on one batch, each with its own backward, before one step."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)

for step in range(10):
    optimizer.zero_grad(set_to_none=False)
    nn.functional.mse_loss(net(x), y).backward()
    penalty = 1e-3 * sum(p.abs().sum() for p in net.parameters())
    penalty.backward()
    optimizer.step()
