"""A generator gives features of a frozen network from within no_grad, in which it waits while the head is trained."""

# expect-line: with torch.no_grad():

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(256, 8), torch.randint(0, 3, (256,))
backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU()).requires_grad_(False)
head = nn.Linear(16, 3)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)


def features():
    with torch.no_grad():
        for xb, yb in zip(x.split(32), y.split(32)):
            yield backbone(xb), yb


for epoch in range(3):
    for feature, label in features():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(feature), label)
        loss.backward()
        optimizer.step()
