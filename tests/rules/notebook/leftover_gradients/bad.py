"""A look at the gradients in an earlier cell stays in them; the loop resets after its steps only."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)

net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
nn.functional.mse_loss(net(x), y).backward()
# --- cell ---
for _ in range(10):
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
