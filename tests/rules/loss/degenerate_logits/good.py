"""Two classes, one logit, and a contrastive loss whose last batch holds one sample."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
two, one, embed = nn.Linear(8, 2), nn.Linear(8, 1), nn.Linear(8, 4)
optimizer = torch.optim.SGD([*two.parameters(), *one.parameters(), *embed.parameters()], lr=1e-2)
for size in (16, 16, 16, 16, 16, 16, 1):
    x, y = torch.randn(size, 8), torch.randint(0, 2, (size,))
    optimizer.zero_grad()
    z = embed(x)
    loss = F.cross_entropy(two(x), y) + F.binary_cross_entropy_with_logits(one(x).squeeze(1), y.float())
    loss = loss + F.cross_entropy(z @ z.T, torch.arange(size))
    loss.backward()
    optimizer.step()
