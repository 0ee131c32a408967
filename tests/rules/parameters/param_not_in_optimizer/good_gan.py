"""The generator's loss passes through the discriminator, which the other optimizer owns."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3)
d_opt = torch.optim.Adam(discriminator.parameters(), lr=1e-3)

for step in range(24):
    if step % 6 == 5:
        d_opt.zero_grad()
        real, fake = torch.randn(32, 2) + 2, generator(torch.randn(32, 4)).detach()
        d_loss = F.softplus(-discriminator(real)).mean() + F.softplus(discriminator(fake)).mean()
        d_loss.backward()
        d_opt.step()
    else:
        g_opt.zero_grad()
        g_loss = F.softplus(-discriminator(generator(torch.randn(32, 4)))).mean()
        g_loss.backward()
        g_opt.step()
