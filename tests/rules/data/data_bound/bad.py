"""A dataset that takes its time for each sample."""

# expect-line: loader = DataLoader(Slow(), batch_size=8)
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        time.sleep(0.02)
        return torch.randn(3), torch.zeros(1)


loader = DataLoader(Slow(), batch_size=8)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
