"""A dataset sorted by class, and a loader that keeps its order."""

# expect-line: loader = DataLoader(TensorDataset(x, y), batch_size=32)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.arange(10).repeat_interleave(64)
x = torch.randn(640, 12) + nn.functional.one_hot(y, 12)
loader = DataLoader(TensorDataset(x, y), batch_size=32)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
