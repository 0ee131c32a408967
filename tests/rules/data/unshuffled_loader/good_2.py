"""Mixed data in a fixed order, batches of two samples, and a group that comes sorted beside the target."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(320, 6), torch.randint(0, 3, (320,))
group = torch.arange(5).repeat_interleave(64)
net = nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

for size in (2, 32):
    loader = DataLoader(TensorDataset(x + y[:, None], y, group), batch_size=size)
    for xb, yb, _ in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(xb), yb).backward()
        optimizer.step()
