"""A closure that goes backward and never resets what it adds to."""

# expect-line: loss.backward()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.05, max_iter=5)
x = torch.randn(64, 4)
y = x[:, :1] * x[:, 1:2]


def closure():
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    return loss


for step in range(10):
    optimizer.step(closure)
