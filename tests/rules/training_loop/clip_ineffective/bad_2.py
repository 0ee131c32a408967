"""Gradients are clipped before the backward, where there are none."""

# expect-line: torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.1)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for step in range(12):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.1)
    loss.backward()
    optimizer.step()
