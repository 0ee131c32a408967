"""Most channels of a convolution are silent for every image."""

# expect-module: net.1
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 3))
with torch.no_grad():
    net[0].bias[:12] = -30.0
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(512, 1, 8, 8), torch.randint(0, 3, (512,))

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
