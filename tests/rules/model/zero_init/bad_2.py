"""A convolution and its head zeroed in place."""

# expect-module: net.0
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Tanh(), nn.Flatten(), nn.Linear(8 * 36, 3))
with torch.no_grad():
    for parameter in net.parameters():
        parameter.zero_()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(320, 1, 8, 8), torch.randint(0, 3, (320,))

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
