"""Softmax inside attention, raw scores at the end; a bounded output in [0, 1] whose rows do not sum to one."""

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.out = nn.Linear(width, 3)

    def forward(self, x):
        weights = F.softmax(self.query(x) @ self.key(x).transpose(1, 2) / 8**0.5, dim=-1)
        return torch.sigmoid(self.out(weights @ self.value(x)).mean(1))


torch.manual_seed(0)
net = Attention()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(32, 6, 8), torch.randint(0, 3, (32,))

for step in range(8):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
