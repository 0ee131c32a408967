"""Heads of three tasks, one of which is trained only now and then."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.heads = nn.ModuleDict({"a": nn.Linear(8, 3), "b": nn.Linear(8, 3), "c": nn.Linear(8, 3)})

    def forward(self, x, task):
        return self.heads[task](torch.relu(self.body(x)))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(30):
    task = "a" if i % 7 else "bc"[i // 7 % 2]
    opt.zero_grad()
    F.cross_entropy(net(x, task), y).backward()
    opt.step()
