"""The class has a train of its own, which forgets its parts."""

# expect-line: def train(self, mode=True):
# expect-module: net.body.1
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 3))

    def forward(self, x):
        return self.body(x)

    def train(self, mode=True):
        self.training = mode
        return self


net = Net()
net.body.eval()
F.cross_entropy(net(x), y)
net.train()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
