"""Layers stand in lists inside a tuple, in a block of the model."""

# expect-module: net.block.heads
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = ([nn.Linear(8, 4)], [nn.Linear(8, 4)])

    def forward(self, x):
        return torch.cat([h[0](x) for h in self.heads], 1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.out = Block(), nn.Linear(8, 3)

    def forward(self, x):
        return self.out(torch.relu(self.block(x)))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
