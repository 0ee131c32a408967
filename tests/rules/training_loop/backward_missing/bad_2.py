"""A closure computes the loss and returns it without a backward."""

# expect-line: optimizer.step(closure)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5)


def closure():
    optimizer.zero_grad()
    return F.cross_entropy(net(x), y)


for step in range(8):
    optimizer.step(closure)
