"""A compiled function in one piece."""

# profile: steps=8
import torch
from torch import nn

torch._dynamo.reset()


def noisy(x):
    y = torch.relu(net(x))
    return y.square().mean()


torch.manual_seed(0)
loss_of = torch.compile(noisy, backend="eager")
net = nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(4, 8)
    optimizer.zero_grad()
    loss_of(x).backward()
    optimizer.step()
