"""A target network runs without gradients and belongs to no optimizer."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)

q = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for i in range(30):
    a = q(x).argmax(1)
    with torch.no_grad():
        best = target(x).max(1).values
    loss = F.smooth_l1_loss(q(x).gather(1, a[:, None]).squeeze(1), torch.randn(96) + 0.9 * best)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 10 == 9:
        target.load_state_dict(q.state_dict())
