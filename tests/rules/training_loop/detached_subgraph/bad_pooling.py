"""Scores choose, and weigh nothing: only their indices come to the loss."""

# expect-line: score, best = self.score(x).squeeze(-1).topk(k, dim=1)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(8, 1)

    def forward(self, x):
        k = int(0.5 * x.size(1))
        score, best = self.score(x).squeeze(-1).topk(k, dim=1)
        x = x.gather(1, best.unsqueeze(-1).expand(-1, -1, x.size(-1)))
        return x, score


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.pool, self.head = nn.Linear(8, 8), Pool(), nn.Linear(8, 3)

    def forward(self, x):
        h, self.scores = self.pool(torch.relu(self.first(x)))
        return self.head(h.mean(1))


x, y = torch.randn(96, 6, 8), torch.randint(0, 3, (96,))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(30):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
