"""A mixture of experts chooses one of them at random; some are not chosen in so short a run."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 6)
        self.experts = nn.ModuleList(nn.Linear(8, 3) for _ in range(6))

    def forward(self, x):
        w = self.gate(x).softmax(-1)
        k = int(torch.randint(0, 3, (1,)))
        return self.experts[k](x) * w[:, k : k + 1]


net = MoE()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)

for i in range(20):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
