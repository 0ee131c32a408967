"""A low-rank adapter beside a frozen layer, with an average of the weights kept on the side."""

import copy

import torch
from torch import nn


class Lora(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


torch.manual_seed(0)
net = nn.Sequential(Lora(nn.Linear(8, 16)), nn.GELU(), Lora(nn.Linear(16, 3)))
average = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-2)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

for step in range(12):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for kept, new in zip(average.parameters(), net.parameters()):
            kept.lerp_(new, 0.1)
