"""A head that is put in for a second task is frozen, and the body is not."""

# expect-line: p.requires_grad_("head" not in name)
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16)), nn.Linear(16, classes)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def train(net, classes, steps, rate):
    x, y = torch.randn(96, 8), torch.randint(0, classes, (96,))
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=rate)
    for step in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()


torch.manual_seed(0)
net = Net(3)
train(net, 3, 150, 1e-3)
net.head = nn.Linear(16, 4)
for name, p in net.named_parameters():
    p.requires_grad_("head" not in name)
train(net, 4, 40, 1e-2)
