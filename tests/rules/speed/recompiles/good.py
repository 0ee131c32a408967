"""A compiled function that is given one shape."""

# profile: steps=8
import torch
from torch import nn

torch._dynamo.reset()


def scaled(x, factor):
    return (net(x) * factor).square().mean()


torch.manual_seed(0)
loss_of = torch.compile(scaled, backend="eager", dynamic=False)
net = nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(4, 8)
    optimizer.zero_grad()
    loss_of(x, 1.0).backward()
    optimizer.step()
