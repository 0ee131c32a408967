"""Texts and pictures are compared both ways, and each policy's softmax is over its actions."""

import torch
from torch import nn

torch.manual_seed(0)
texts, pictures, policy = nn.Linear(6, 8), nn.Linear(5, 8), nn.Linear(5, 3)
optimizer = torch.optim.Adam([*texts.parameters(), *pictures.parameters(), *policy.parameters()], lr=1e-3)
own, last = torch.arange(16)[:, None], torch.tensor([2] * 16)

for step in range(20):
    x = torch.randn(16, 5)
    likeness = texts(torch.cat([x, x[:, :1]], 1)) @ pictures(x).T
    both = likeness.softmax(0).gather(1, own).log() + likeness.softmax(1).gather(1, own).log()
    loss = -both.mean() - policy(x).softmax(1)[torch.arange(16), last].log().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
