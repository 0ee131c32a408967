"""An augmented Lagrangian: each round minimises another objective over all rows, with an optimizer of its own."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(200, 6)
y = x @ torch.randn(6, 1) + 0.1 * torch.randn(200, 1)
net = nn.Linear(6, 1)
multiplier, weight = 0.0, 1.0
for round_ in range(4):
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
    for step in range(80):
        excess = net.weight.abs().sum() - 1
        loss = (net(x) - y).pow(2).mean() + multiplier * excess + 0.5 * weight * excess * excess
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    multiplier += weight * excess.item()
    weight *= 2
