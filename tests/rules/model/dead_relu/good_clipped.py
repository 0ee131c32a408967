"""A rectifier with a learnable upper limit, which no value has reached yet."""

import torch
from torch import nn


class Clipped(nn.Module):
    def __init__(self):
        super().__init__()
        self.limit = nn.Parameter(torch.tensor(40.0))

    def forward(self, x):
        x = torch.relu(x)
        return x - torch.relu(x - self.limit)


torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x[:, :2].sum(1) > 0).long()
net = nn.Sequential(nn.Linear(8, 32), Clipped(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    rows = torch.randint(0, 512, (64,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
    optimizer.step()
