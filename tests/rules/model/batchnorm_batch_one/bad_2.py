"""The last batch of the epoch has one sample, and torch raises."""

# expect-module: net.1
# expect-line: loader = DataLoader(TensorDataset(x, y), batch_size=32)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(65, 8), torch.randint(0, 3, (65,))
loader = DataLoader(TensorDataset(x, y), batch_size=32)

for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
