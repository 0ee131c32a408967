"""A model without dropout or batch norm trains the same in either mode."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Dropout(0.0), nn.Linear(8, 1)).eval()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(64, 4), torch.randn(64, 1)

for step in range(8):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
