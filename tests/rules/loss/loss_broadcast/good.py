"""Both shapes are (N, 1), also in a last batch that is smaller."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(250, 4)
y = x @ torch.tensor([1.0, -2.0, 0.5, 3.0])
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    loss = nn.functional.smooth_l1_loss(net(xb).squeeze(1), yb)
    loss.backward()
    optimizer.step()
