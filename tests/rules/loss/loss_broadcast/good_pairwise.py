"""All pairs of a batch are compared on purpose, and a weight of its own is multiplied to each sample's loss."""

import torch
from torch import nn

torch.manual_seed(0)
x, labels = torch.randn(24, 4), torch.randint(0, 3, (24,))
weight = torch.rand(24, 1)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
same = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()

for step in range(10):
    optimizer.zero_grad()
    z = net(x)
    distance = (z.unsqueeze(1) - z.unsqueeze(0)).pow(2).sum(-1)
    loss = (same * distance + (1 - same) * torch.relu(1 - distance)).mean() + (weight * z.pow(2)).mean()
    loss.backward()
    optimizer.step()
