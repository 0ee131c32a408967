"""The branches are objects that can be called, in a tuple: torch does not look into them."""

# expect-line: self.branches = tuple(Branch(nn.Linear(8, 4)) for _ in range(2))
# expect-module: net.branches
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


@dataclass
class Branch:
    layer: nn.Module

    def __call__(self, x):
        return torch.tanh(self.layer(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = tuple(Branch(nn.Linear(8, 4)) for _ in range(2))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.cat([branch(x) for branch in self.branches], dim=1))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
