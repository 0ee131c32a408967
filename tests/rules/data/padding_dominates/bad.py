"""Texts of a few words, filled up to fifty."""

# expect-module: net.0
import torch
from torch import nn

torch.manual_seed(0)
texts, labels = torch.randint(1, 100, (160, 50)), torch.randint(0, 3, (160,))
texts[:, 12:] = 0
net = nn.Sequential(nn.Embedding(100, 8, padding_idx=0), nn.Flatten(), nn.Linear(400, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for xb, yb in zip(texts.split(16), labels.split(16)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
