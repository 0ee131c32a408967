"""A stream of which a filter leaves nothing."""

# expect-line: stream = DataLoader(Stream(), batch_size=4)
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        return (torch.tensor([float(i)]) for i in range(100) if i > 100)


stream = DataLoader(Stream(), batch_size=4)
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for xb in stream:
    optimizer.zero_grad()
    net(xb).mean().backward()
    optimizer.step()
