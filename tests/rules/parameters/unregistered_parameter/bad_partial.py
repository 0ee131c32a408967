"""The layers are given beforehand to a function that the module holds."""

# expect-line: self.body = partial(through, [nn.Linear(8, 8) for _ in range(2)])
# expect-module: net.body
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


def through(layers, x):
    for layer in layers:
        x = torch.tanh(layer(x))
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = partial(through, [nn.Linear(8, 8) for _ in range(2)])
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
