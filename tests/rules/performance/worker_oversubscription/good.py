"""One worker."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.randn(48, 3), torch.randn(48, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=4, num_workers=1)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
