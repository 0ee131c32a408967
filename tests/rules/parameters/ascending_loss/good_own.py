"""An optimizer of one's own goes down the gradients."""

import torch
from torch import nn


class Descent(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for each in group["params"]:
                each.add_(each.grad, alpha=-group["lr"])


torch.manual_seed(0)
x = torch.randn(128, 4)
y = (x[:, 0] > x[:, 1]).long()
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = Descent(net.parameters(), lr=0.05)

for step in range(60):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
