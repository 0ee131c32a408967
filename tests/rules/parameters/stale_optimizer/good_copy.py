"""A copy of the model is kept as it was; the optimizer holds the one that trains."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)

q = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for i in range(8):
    loss = F.mse_loss(q(x), target(x).detach() + 1.0)
    opt.zero_grad()
    loss.backward()
    opt.step()
