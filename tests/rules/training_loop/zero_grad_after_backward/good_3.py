"""Two heads take turns; both optimizers step each time, and one of them has nothing to do."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
body, heads = nn.Linear(8, 16), nn.ModuleList([nn.Linear(16, 2), nn.Linear(16, 2)])
body_opt = torch.optim.SGD(body.parameters(), lr=0.1)
head_opts = [torch.optim.SGD(head.parameters(), lr=0.1) for head in heads]

for step in range(16):
    loss = F.cross_entropy(heads[step % 2](body(x).tanh()), y)
    loss.backward()
    body_opt.step()
    for opt in head_opts:
        opt.step()
        opt.zero_grad()
    body_opt.zero_grad()
