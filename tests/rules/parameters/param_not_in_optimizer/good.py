"""A frozen backbone and a new head: only the head is given to the optimizer, as it should be."""

import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
for parameter in backbone.parameters():
    parameter.requires_grad_(False)
net = nn.Sequential(backbone, nn.Linear(16, 3))
optimizer = torch.optim.Adam((p for p in net.parameters() if p.requires_grad), lr=1e-2)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

for step in range(10):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
