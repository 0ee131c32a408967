"""The arrays of numpy decide that all is double."""

# expect-line: net = net.double()
# expect-module: net
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
x = torch.from_numpy(np.random.default_rng(0).normal(size=(512, 8)))
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
net = net.double()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
