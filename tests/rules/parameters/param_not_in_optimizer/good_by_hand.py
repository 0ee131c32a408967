"""One scale is trained by hand, outside the optimizer that trains the rest."""

import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 1)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.scale * self.linear(x)


torch.manual_seed(0)
net = Scaled()
optimizer = torch.optim.SGD(net.linear.parameters(), lr=0.05)
x, y = torch.randn(64, 4), torch.randn(64, 1)

for step in range(12):
    net.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        net.scale -= 0.01 * net.scale.grad
