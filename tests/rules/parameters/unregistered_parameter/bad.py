"""Layers are collected in a Python list."""

# expect-line: self.hidden = [nn.Linear(16, 16) for _ in range(2)]
# expect-module: net.hidden
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.hidden = [nn.Linear(16, 16) for _ in range(2)]
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        x = torch.relu(self.first(x))
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.out(x)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
