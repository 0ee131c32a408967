"""A model so small that more threads would not help."""

# profile: steps=5
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(10):
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x).backward()
    optimizer.step()
