"""The optimizer is given what is trained."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Lora(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad = False
        self.a = nn.Parameter(torch.randn(rank, base.in_features) * 0.01)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return x @ self.a.T @ self.b.T + self.base(x)


net = nn.Sequential(Lora(nn.Linear(8, 16)), nn.GELU(), Lora(nn.Linear(16, 3)))
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-2)

for i in range(20):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
