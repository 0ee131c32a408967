"""The layers lie in a list that only a closure knows; the module holds the closure."""

# expect-line: self.body = stack(2)
# expect-module: net.body
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


def stack(depth):
    layers = [nn.Linear(8, 8) for _ in range(depth)]

    def run(x):
        for layer in layers:
            x = torch.tanh(layer(x))
        return x

    return run


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = stack(2)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
