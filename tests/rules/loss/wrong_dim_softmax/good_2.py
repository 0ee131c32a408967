"""Slots compete for positions, clusters gather rows, capsules choose where to go, attention as it should be."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Slots(nn.Module):
    def __init__(self):
        super().__init__()
        self.key, self.value, self.query = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
        self.start = nn.Parameter(torch.randn(1, 3, 6))
        self.assign, self.out = nn.Linear(6, 4), nn.Linear(6, 2)

    def forward(self, x):
        slots = self.query(self.start).expand(len(x), -1, -1)
        weights = (slots @ self.key(x).transpose(1, 2)).softmax(dim=1)
        slots = (weights / weights.sum(-1, keepdim=True)) @ self.value(x)
        clusters = self.assign(x).softmax(-1).transpose(1, 2) @ x
        attention = (slots @ clusters.mT).softmax(-1) @ clusters
        return self.out(attention.mean(1))


net = Slots()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(8):
    x, y = torch.randn(16, 10, 6), torch.randint(0, 2, (16,))
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
