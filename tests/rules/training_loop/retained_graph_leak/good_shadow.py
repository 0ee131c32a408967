"""Weights are averaged without their graph."""

import torch
from torch import nn


class Average:
    def __init__(self, model):
        self.shadow = {name: each.detach().clone() for name, each in model.named_parameters()}

    def update(self, model):
        for name, each in model.named_parameters():
            self.shadow[name] = 0.9 * self.shadow[name] + 0.1 * each.detach()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
average = Average(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(64, 4)

for step in range(40):
    optimizer.zero_grad()
    loss = (net(x) - x[:, :1]).pow(2).mean()
    loss.backward()
    optimizer.step()
    average.update(net)
