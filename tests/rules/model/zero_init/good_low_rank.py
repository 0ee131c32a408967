"""One factor of a correction is zero, and the other is not."""

# sound
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class LowRank(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.down), self.up)


x, y = torch.randn(96, 6), torch.randint(0, 3, (96,))
net = nn.Sequential(LowRank(nn.Linear(6, 16)), nn.ReLU(), nn.Linear(16, 3).requires_grad_(False))
opt = torch.optim.Adam([each for each in net.parameters() if each.requires_grad], lr=0.01)
for step in range(30):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
