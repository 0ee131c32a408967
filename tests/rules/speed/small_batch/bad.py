"""Batches of eight rows, and one row at the end of each epoch."""

# profile: steps=4 lines=False
# expect-line: nn.functional.mse_loss(net(x), y).backward()
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(33, 16)
loader = DataLoader(TensorDataset(x, x[:, :1]), batch_size=8, shuffle=True)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(60):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
