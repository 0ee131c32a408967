"""A focal loss weighs the logarithms, and a mixture of experts adds probabilities before it takes them."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randint(0, 4, (64,))
first, second, gate = nn.Linear(8, 4), nn.Linear(8, 4), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters(), *gate.parameters()], lr=1e-2)

for step in range(10):
    optimizer.zero_grad()
    logp = F.log_softmax(first(x), dim=1)
    focal = F.nll_loss((1 - logp.exp()) ** 2 * logp, y)
    share = gate(x).softmax(1)
    mixed = share[:, :1] * first(x).softmax(1) + share[:, 1:] * second(x).softmax(1)
    loss = focal + F.nll_loss(mixed.log(), y)
    loss.backward()
    optimizer.step()
