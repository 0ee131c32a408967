"""Two views of a batch, both learned from, and metrics from the output that was trained on."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(10):
    x = torch.randn(32, 8)
    optimizer.zero_grad()
    first, second = net(x + 0.1 * torch.randn(32, 8)), net(x + 0.1 * torch.randn(32, 8))
    loss = 1 - F.cosine_similarity(first, second).mean() + (first.std(0) - 1).abs().mean()
    loss.backward()
    optimizer.step()
    spread = first.detach().std(0)
