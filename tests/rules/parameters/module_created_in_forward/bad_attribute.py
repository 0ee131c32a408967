"""A block of several layers is made in every forward and kept in an attribute."""

# expect-line: self.block = Block(h.shape[1])
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.l = nn.Linear(n, n)
        self.norm = nn.LayerNorm(n)

    def forward(self, x):
        return self.norm(torch.relu(self.l(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        h = torch.relu(self.fc(x))
        self.block = Block(h.shape[1])
        return self.out(self.block(h))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
