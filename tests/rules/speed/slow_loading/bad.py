"""A dataset that waits for each of its samples, loaded by the process that trains."""

# profile
# expect-line: time.sleep(0.0005)
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        x = torch.randn(16, generator=generator)
        time.sleep(0.0005)
        return x, x[:1]


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for x, y in DataLoader(Slow(), batch_size=16, shuffle=True):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
