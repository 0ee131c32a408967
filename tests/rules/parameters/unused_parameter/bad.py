"""A layer is defined, and its call was forgotten."""

# expect-module: net.middle
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.middle = nn.Linear(8, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
