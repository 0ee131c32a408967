"""A network that ends in features, and a head of its own that begins with a linear layer."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(128, 12), torch.randint(0, 3, (128,))
backbone = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16))
projector = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam([*backbone.parameters(), *projector.parameters()], lr=1e-2)
for _ in range(12):
    optimizer.zero_grad()
    nn.functional.cross_entropy(projector(backbone(x)), y).backward()
    optimizer.step()
