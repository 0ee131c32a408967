"""A sigmoid written by hand."""

# expect-line: loss = F.binary_cross_entropy_with_logits(p, y)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    x, y = torch.randn(32, 8), torch.randint(0, 2, (32, 1)).float()
    optimizer.zero_grad()
    p = 1 / (1 + torch.exp(-net(x)))
    loss = F.binary_cross_entropy_with_logits(p, y)
    loss.backward()
    optimizer.step()
