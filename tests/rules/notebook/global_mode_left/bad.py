"""An earlier cell made float64 the default for the whole process, and nobody undid it."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)

torch.set_default_dtype(torch.float64)
# --- cell ---
net = nn.Linear(8, 1).float()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
