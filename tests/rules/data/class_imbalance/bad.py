"""Thirty samples of one class to one of the other."""

# expect-line: loader = DataLoader(TensorDataset(x, y), batch_size=62, shuffle=True)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = (torch.arange(620) % 31 == 0).long()
x = torch.randn(620, 6) + 3 * y[:, None]
loader = DataLoader(TensorDataset(x, y), batch_size=62, shuffle=True)
net = nn.Linear(6, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
