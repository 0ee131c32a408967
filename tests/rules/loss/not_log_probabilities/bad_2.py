"""Probabilities without their logarithm, for each position of a sequence, in a method."""

# expect-line: return F.nll_loss(self(x).transpose(1, 2), y)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 12, batch_first=True)
        self.out = nn.Linear(12, 5)

    def forward(self, x):
        return F.softmax(self.out(self.rnn(x)[0]), dim=-1)

    def loss(self, x, y):
        return F.nll_loss(self(x).transpose(1, 2), y)


tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-3)
for step in range(6):
    x, y = torch.randn(8, 7, 6), torch.randint(0, 5, (8, 7))
    optimizer.zero_grad()
    tagger.loss(x, y).backward()
    optimizer.step()
