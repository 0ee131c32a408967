"""The gradients are emptied by hand before the step."""

# expect-line: p.grad = None
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for step in range(10):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    for p in net.parameters():
        p.grad = None
    optimizer.step()
