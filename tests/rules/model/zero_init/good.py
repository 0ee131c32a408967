"""A low-rank correction whose second factor begins at zero, and a head that does."""

import torch
from torch import nn

torch.manual_seed(0)


class LowRank(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.base = nn.Linear(wide, narrow).requires_grad_(False)
        self.down = nn.Parameter(torch.randn(4, wide) / 4)
        self.up = nn.Parameter(torch.zeros(narrow, 4))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


net = nn.Sequential(LowRank(8, 32), nn.ReLU(), nn.Linear(32, 3))
nn.init.zeros_(net[2].weight)
optimizer = torch.optim.Adam([each for each in net.parameters() if each.requires_grad], lr=0.01)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
