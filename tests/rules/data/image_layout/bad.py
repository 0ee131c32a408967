"""Images as NumPy keeps them, and a convolution made to fit."""

# expect-module: net.0
import torch
from torch import nn

torch.manual_seed(0)
images, labels = torch.rand(160, 16, 16, 3), torch.randint(0, 3, (160,))
net = nn.Sequential(nn.Conv2d(16, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for xb, yb in zip(images.split(16), labels.split(16)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
