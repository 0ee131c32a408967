"""Numbers are taken of the loss for printing only, after backward."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
seen = []
for step in range(12):
    opt.zero_grad()
    logits = net(x)
    loss = F.cross_entropy(logits, y)
    loss.backward()
    opt.step()
    right = (logits.argmax(1) == y).float().mean().item()
    seen.append((loss.item(), right, logits.detach().numpy().max()))
