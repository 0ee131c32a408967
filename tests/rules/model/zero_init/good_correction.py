"""The same correction as it should begin: its second factor alone is zero."""

import torch
from torch import nn

torch.manual_seed(0)


class LowRank(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.base = nn.Linear(wide, narrow).requires_grad_(False)
        self.down, self.up = nn.Linear(wide, 2, bias=False), nn.Linear(2, narrow, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


net = nn.Sequential(LowRank(8, 32), nn.ReLU(), LowRank(32, 3))
optimizer = torch.optim.AdamW([each for each in net.parameters() if each.requires_grad], lr=0.01)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
