import copy

import torch
from torch import nn
from torch.nn import functional

torch.manual_seed(0)
x = torch.randn(256, 8)
query = nn.Linear(8, 16)
key = copy.deepcopy(query).requires_grad_(False)
queue = functional.normalize(torch.randn(15, 16), dim=1)
opt = torch.optim.Adam(query.parameters(), lr=1e-2)
for step in range(40):
    batch = x[torch.randint(256, (32,))]
    q = functional.normalize(query(batch + 0.1 * torch.randn_like(batch)), dim=1)
    with torch.no_grad():
        for slow, quick in zip(key.parameters(), query.parameters(), strict=True):
            slow.lerp_(quick, 0.01)
        k = functional.normalize(key(batch), dim=1)
    logits = torch.cat([(q * k).sum(dim=1, keepdim=True), q @ queue.T], dim=1) / 0.02
    loss = functional.cross_entropy(logits, torch.zeros(32, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
