"""One batch in which the targets are corrupt: its gradient is a million times the others, whatever is clipped after."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(640, 8)
y = x @ torch.randn(8, 1)
y[512:528] *= 1e6
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(xb), yb)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
