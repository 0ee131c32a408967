"""Data at hand, after a long preparation in the same cell."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

time.sleep(0.5)
loader = DataLoader(TensorDataset(torch.randn(640, 3), torch.randn(640, 1)), batch_size=16)
net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
