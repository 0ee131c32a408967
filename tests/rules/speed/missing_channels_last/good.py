"""The same with all channels of a pixel side by side."""

# profile: steps=3
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1),
    nn.BatchNorm2d(32),
    nn.ReLU(),
    nn.Conv2d(32, 32, 3, padding=1, groups=32),
    nn.Conv2d(32, 64, 1),
    nn.BatchNorm2d(64),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(64, 64, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(64, 10),
)
net = net.to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(5):
    x, y = torch.randn(16, 3, 32, 32).to(memory_format=torch.channels_last), torch.randint(0, 10, (16,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
