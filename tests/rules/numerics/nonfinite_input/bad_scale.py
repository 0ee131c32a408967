"""A column of the table never changes, so that it is divided by a standard deviation of zero."""

# expect-line: x = (x - x.mean(0)) / x.std(0)
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(128, 6), torch.randn(128, 1)
x[:, 2] = 5.0
x = (x - x.mean(0)) / x.std(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(xb), yb)
    loss.backward()
    optimizer.step()
