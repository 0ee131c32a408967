"""The forward uses layers of a list that lies outside of its class."""

# expect-line: layers = [nn.Linear(8, 8) for _ in range(2)]
# expect-module: net
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


def make():
    layers = [nn.Linear(8, 8) for _ in range(2)]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(8, 3)

        def forward(self, x):
            for layer in layers:
                x = torch.tanh(layer(x))
            return self.head(x)

    return Net()


net = make()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
