"""All layers stand in a list: the optimizer finds nothing to train."""

# expect-module: net.layers
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(96, 8)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)]

    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
