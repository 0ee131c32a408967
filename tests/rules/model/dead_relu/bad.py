"""Every bias was pushed far below zero: no unit of the hidden layer answers any more."""

# expect-module: net.1
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
nn.init.constant_(net[0].bias, -50.0)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(512, 8), torch.randint(0, 3, (512,))

for epoch in range(2):
    for xb, yb in zip(x.split(64), y.split(64)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
