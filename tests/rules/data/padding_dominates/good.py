"""A third of each text is padding, and a table that has none."""

import torch
from torch import nn

torch.manual_seed(0)
texts, labels = torch.randint(1, 100, (160, 30)), torch.randint(0, 3, (160,))
texts[:, 20:] = 0
for padding in (0, None):
    net = nn.Sequential(nn.Embedding(100, 8, padding_idx=padding), nn.Flatten(), nn.Linear(240, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for xb, yb in zip(texts.split(16), labels.split(16)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(xb), yb).backward()
        optimizer.step()
