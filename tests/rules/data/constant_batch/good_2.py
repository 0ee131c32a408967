"""A random batch by a new iterator in each step, a stream of steps, and two networks of which one gets noise."""

import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(300, 4), torch.randn(300, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
fixed = DataLoader(TensorDataset(x, y), batch_size=20)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)

for _ in range(20):
    xb, yb = next(iter(loader))
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
    with torch.no_grad():
        xv, yv = next(iter(fixed))
        check = nn.functional.mse_loss(net(xv), yv)
for xb, yb in itertools.islice(itertools.cycle(loader), 20):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
