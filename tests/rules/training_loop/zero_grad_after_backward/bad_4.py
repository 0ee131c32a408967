"""A closure that resets after its backward."""

# expect-line: optimizer.zero_grad()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4)


def closure():
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.zero_grad()
    return loss


for step in range(8):
    optimizer.step(closure)
