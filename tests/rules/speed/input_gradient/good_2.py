"""A gradient of the input that is used: for a step towards a larger loss."""

# profile: steps=8
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(256, 512, requires_grad=True)
    net(x).square().mean().backward()
    worse = (x + 0.01 * x.grad.sign()).detach()
    optimizer.zero_grad()
    net(worse).square().mean().backward()
    optimizer.step()
