"""Gradients come from autograd.grad, and nobody puts them in place."""

# expect-line: optimizer.step()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
parameters = list(net.parameters())

for step in range(12):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    gradients = torch.autograd.grad(loss, parameters)
    optimizer.step()
