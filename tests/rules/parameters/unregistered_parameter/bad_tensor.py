"""A scale is a plain tensor that requires a gradient."""

# expect-line: self.scale = torch.ones(3, requires_grad=True)
# expect-module: net.scale
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.scale = torch.ones(3, requires_grad=True)

    def forward(self, x):
        return self.fc(x) * self.scale


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
