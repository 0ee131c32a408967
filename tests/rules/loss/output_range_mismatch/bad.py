"""A sigmoid cannot reach prices."""

# expect-line: loss = F.mse_loss(net(xb), yb)
# expect-module: net.3
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = 3 + 2 * x[:, :1]
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    loss = F.mse_loss(net(xb), yb)
    loss.backward()
    optimizer.step()
