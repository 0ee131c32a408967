"""Channels first, square and not; and a board whose sides are as many as its channels."""

import torch
from torch import nn

torch.manual_seed(0)
labels = torch.randint(0, 3, (160,))
for images in (torch.rand(160, 3, 16, 16), torch.rand(160, 3, 16, 3), torch.rand(160, 8, 8, 8)):
    pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    net = nn.Sequential(nn.Conv2d(images.shape[1], 8, 3, padding=1), nn.ReLU(), *pool, nn.Linear(8, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for xb, yb in zip(images.split(16), labels.split(16)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(xb), yb).backward()
        optimizer.step()
