"""A prompt is trained in front of a frozen network that was trained before."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

lm = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
o = torch.optim.Adam(lm.parameters(), lr=1e-2)
for i in range(40):
    o.zero_grad()
    F.cross_entropy(lm(x), y).backward()
    o.step()
lm.requires_grad_(False)


class Prompted(nn.Module):
    def __init__(self, lm):
        super().__init__()
        self.lm, self.prompt = lm, nn.Parameter(torch.zeros(8))

    def forward(self, x):
        return self.lm(x + self.prompt)


net = Prompted(lm)
opt = torch.optim.Adam([net.prompt], lr=1e-2)

for i in range(20):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
