"""Attention is normalised over the queries."""

# expect-line: weights = F.dropout(torch.softmax(scores, dim=-2), 0.1, self.training)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / 8**0.5
        weights = F.dropout(torch.softmax(scores, dim=-2), 0.1, self.training)
        return self.out((weights @ self.value(x)).mean(1))


net = Attention()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(6):
    x, y = torch.randn(16, 6, 8), torch.randint(0, 3, (16,))
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
