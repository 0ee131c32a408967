"""A transform of a subset's dataset draws from a global generator of Python's."""

# expect-line: rng = random.Random(7)
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

rng = random.Random(7)


def jitter(x):
    return x + rng.gauss(0, 1)


class Rows(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 64

    def __getitem__(self, i):
        return self.transform(torch.zeros(3)), torch.zeros(1)


loader = DataLoader(Subset(Rows(jitter), range(48)), batch_size=8, num_workers=2)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
