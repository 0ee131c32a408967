"""A single short batch at the end of an epoch goes through a batch norm of images."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(97, 1, 8, 8), torch.randint(0, 3, (97,))

for epoch in range(3):
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(xb), yb).backward()
        optimizer.step()
