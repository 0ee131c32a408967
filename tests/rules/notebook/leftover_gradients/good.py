"""A look at the gradients in an earlier cell, and a loop that resets first."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)

net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
nn.functional.mse_loss(net(x), y).backward()
# --- cell ---
for _ in range(10):
    optimizer.zero_grad(set_to_none=False)
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
