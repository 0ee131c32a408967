"""Attention over a time-first sequence, a bag of instances, and both sides of a contrastive loss."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class TimeFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.score, self.out = nn.GRU(6, 12), nn.Linear(12, 1), nn.Linear(12, 3)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out((self.score(h).softmax(0) * h).sum(0))


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.out = nn.Linear(6, 1), nn.Linear(6, 2)

    def forward(self, x):
        return self.out((torch.softmax(self.score(x), dim=0) * x).sum(0))


sequence, bag, left, right = TimeFirst(), Bag(), nn.Linear(6, 4), nn.Linear(6, 4)
optimizer = torch.optim.Adam(
    [*sequence.parameters(), *bag.parameters(), *left.parameters(), *right.parameters()], lr=1e-3
)
for step in range(8):
    optimizer.zero_grad()
    x = torch.randn(9, 8, 6)
    loss = F.cross_entropy(sequence(x), torch.randint(0, 3, (8,)))
    loss = loss + F.cross_entropy(bag(torch.randn(20, 6)), torch.tensor(step % 2))
    similar = left(x[0]) @ right(x[1]).T
    loss = loss - similar.log_softmax(0).diagonal().mean() - similar.log_softmax(1).diagonal().mean()
    loss.backward()
    optimizer.step()
