"""A gated score: the sigmoid is a factor, and the product is a logit like any other."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.value = nn.Linear(8, 1), nn.Linear(8, 1)

    def forward(self, x):
        return torch.sigmoid(self.gate(x)) * self.value(x)


net = Gated()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    x, y = torch.randn(32, 8), torch.randint(0, 2, (32, 1)).float()
    optimizer.zero_grad()
    F.binary_cross_entropy_with_logits(net(x), y).backward()
    optimizer.step()
