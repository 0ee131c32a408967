"""The stream begins anew in each pass."""

# sound
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

torch.manual_seed(0)
rows = torch.randn(96, 4)


class Stream(IterableDataset):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def __iter__(self):
        for row in self.rows:
            yield row[:3], row[:3].sum(0, keepdim=True)


loader = DataLoader(Stream(rows), batch_size=16)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    for x, y in loader:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
