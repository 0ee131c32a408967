"""A discriminator gets its real and its made-up batch through one helper."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3)
d_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)


def judge(batch, label):
    out = critic(batch)
    F.binary_cross_entropy_with_logits(out, torch.full_like(out, label)).backward()


for step in range(10):
    d_opt.zero_grad()
    judge(torch.randn(32, 2) + 2, 1.0)
    judge(generator(torch.randn(32, 4)).detach(), 0.0)
    d_opt.step()
    g_opt.zero_grad()
    judge(generator(torch.randn(32, 4)), 1.0)
    g_opt.step()
