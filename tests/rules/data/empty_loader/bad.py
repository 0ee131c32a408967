"""Fewer samples than one batch, and an incomplete batch is left out."""

# expect-line: loader = DataLoader(TensorDataset(x, y), batch_size=64, drop_last=True)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.randn(40, 3), torch.randn(40, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=64, drop_last=True)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(total / len(loader))
