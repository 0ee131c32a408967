"""Folders of one class each, put one after the other: the steps follow one class at a time, and units die of it."""

# expect-line: loader = DataLoader(ConcatDataset(folders), batch_size=32)
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset

torch.manual_seed(0)
centres = 2 * torch.rand(8, 16)
folders = [
    TensorDataset(centre + 0.3 * torch.rand(96, 16), torch.full((96,), number)) for number, centre in enumerate(centres)
]
loader = DataLoader(ConcatDataset(folders), batch_size=32)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 8))
optimizer = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)

for epoch in range(6):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
