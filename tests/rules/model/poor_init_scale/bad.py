"""Weights drawn with a spread of one: each layer makes its outputs eight times wider."""

# expect-module: net.18
import torch
from torch import nn

torch.manual_seed(0)
layers = []
for _ in range(8):
    layers += [nn.Linear(64, 64), nn.ReLU()]
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), *layers, nn.Linear(64, 3))
for layer in net:
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
