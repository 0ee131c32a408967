"""Branches are held in a dict."""

# expect-module: net.branches
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = {"a": nn.Linear(8, 4), "b": nn.Linear(8, 4)}
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(torch.cat([torch.relu(b(x)) for b in self.branches.values()], 1))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
