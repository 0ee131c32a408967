"""Fourteen sigmoids in a row: each takes three quarters of the gradient at least."""

# expect-module: net.0
import torch
from torch import nn

torch.manual_seed(0)
layers = []
for _ in range(14):
    layers += [nn.Linear(32, 32), nn.Sigmoid()]
net = nn.Sequential(nn.Linear(8, 32), nn.Sigmoid(), *layers, nn.Linear(32, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
