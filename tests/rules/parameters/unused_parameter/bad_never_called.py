"""A third model is given to the optimizer and never called."""

# expect-module: aux
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

body, aux, head = nn.Linear(8, 4), nn.Linear(4, 4), nn.Linear(4, 3)
opt = torch.optim.Adam([*body.parameters(), *aux.parameters(), *head.parameters()], lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(head(torch.tanh(body(x))), y).backward()
    opt.step()
