"""Marks that are rounded before they are compared: between its jumps that is flat."""

# expect-line: loss = (net(x).round() - marks).pow(2).mean()
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(30):
    x = torch.randn(32, 4)
    marks = x.sum(1, keepdim=True).round()
    loss = (net(x).round() - marks).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
