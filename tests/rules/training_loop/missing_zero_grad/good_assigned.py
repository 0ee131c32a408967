"""The weights of the tasks step on a gradient that was worked out for them, and put in the old one's place."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
truth = torch.randn(4, 2)
weights = nn.Parameter(torch.ones(2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
balance = torch.optim.Adam([weights], lr=1e-3)
for step in range(60):
    x = torch.randn(64, 4)
    losses = (net(x) - x @ truth).square().mean(0)
    (gradient,) = torch.autograd.grad((weights * losses.detach()).square().sum(), weights)
    optimizer.zero_grad()
    (weights.detach() * losses).sum().backward()
    optimizer.step()
    weights.grad = gradient
    balance.step()
