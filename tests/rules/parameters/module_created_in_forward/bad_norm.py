"""A layer deep in the model makes its own batch norm."""

# expect-line: bn = nn.BatchNorm1d(h.shape[1]).to(h.device)
# expect-module: net.inner
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        h = self.fc(x)
        bn = nn.BatchNorm1d(h.shape[1]).to(h.device)
        return torch.relu(bn(h))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        return self.out(self.inner(x))


def main():
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for i in range(8):
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()


main()
