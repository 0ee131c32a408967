"""Gates of a cell written by hand stand open."""

import torch
from torch import nn

torch.manual_seed(0)


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.take, self.keep, self.head = nn.Linear(1, 64), nn.Linear(16, 64), nn.Linear(16, 2)

    def forward(self, x):
        hidden = memory = torch.zeros(len(x), 16)
        for step in range(x.shape[1]):
            i, f, g, o = (self.take(x[:, step]) + self.keep(hidden)).chunk(4, 1)
            memory = torch.sigmoid(f + 9) * memory + torch.sigmoid(i + 9) * torch.tanh(g)
            hidden = torch.sigmoid(o + 9) * torch.tanh(memory)
        return self.head(hidden)


net = Cell()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(512, 6, 1)
y = (x.sum((1, 2)) > 0).long()

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
