"""Pooling by attention, normalised over the single score of each position."""

# expect-line: weights = torch.softmax(self.score(h), dim=2)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 12, batch_first=True)
        self.score, self.out = nn.Linear(12, 1), nn.Linear(12, 3)

    def forward(self, x):
        h, _ = self.rnn(x)
        weights = torch.softmax(self.score(h), dim=2)
        return self.out((weights * h).sum(dim=1))


net = Pool()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(6):
    x, y = torch.randn(16, 9, 6), torch.randint(0, 3, (16,))
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
