"""A loader that is made and asked for its iterator only, one that ends early, and one that gives a batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 3), torch.randn(64, 1))
loader, spare = DataLoader(data, batch_size=8, drop_last=True), DataLoader(data, batch_size=4)
iterator = iter(spare)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
