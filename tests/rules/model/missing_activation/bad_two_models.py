"""Two single layers, each a model of its own, with nothing between them."""
# expect-module: head

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(128, 12), torch.randint(0, 3, (128,))
body, head = nn.Linear(12, 32), nn.Linear(32, 3)
optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2)
for _ in range(12):
    optimizer.zero_grad()
    nn.functional.cross_entropy(head(body(x)), y).backward()
    optimizer.step()
