"""A list of layers whose parameters are given to the optimizer as well."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.extra = [nn.Linear(8, 3)]

    def forward(self, x):
        return self.extra[0](torch.relu(self.fc(x)))


net = Net()
opt = torch.optim.Adam([*net.parameters(), *net.extra[0].parameters()], lr=1e-2)

for i in range(20):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
