"""A column of the table has holes."""

# expect-line: loss = nn.functional.mse_loss(net(xb), yb)
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(128, 6), torch.randn(128, 1)
x[70, 3] = float("nan")
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(xb), yb)
    loss.backward()
    optimizer.step()
