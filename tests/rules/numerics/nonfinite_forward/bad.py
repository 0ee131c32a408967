"""The logarithm of a ReLU: minus infinity as soon as one output is zero."""

# expect-line: loss = -torch.log(net(x)).mean()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(32, 4)

for step in range(5):
    optimizer.zero_grad()
    loss = -torch.log(net(x)).mean()
    loss.backward()
    optimizer.step()
