"""A checkpoint that is not reentrant gives the first layers their gradients."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 12)
        self.norm = nn.LayerNorm(12)
        self.second = nn.Sequential(nn.Linear(12, 12), nn.Tanh())
        self.head = nn.Linear(12, 3)

    def stem(self, x):
        return torch.tanh(self.norm(self.first(x)))

    def forward(self, x):
        x = checkpoint(self.stem, x, use_reentrant=False)
        return self.head(checkpoint(self.second, x, use_reentrant=False))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(64, 6), torch.randint(0, 3, (64,))

for step in range(12):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
