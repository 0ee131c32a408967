"""As deep, with rectifiers and residual connections: the gradient finds its way."""

import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(32, 32)

    def forward(self, x):
        return x + torch.relu(self.layer(x)) / 4


net = nn.Sequential(nn.Linear(8, 32), *[Block() for _ in range(14)], nn.Linear(32, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
