"""A GAN whose generator step leaves gradients in the discriminator, which are cleared before its own step."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
d_opt = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))

for step in range(12):
    real = torch.randn(32, 2) + 2
    fake = generator(torch.randn(32, 4))
    d_opt.zero_grad()
    d_loss = F.softplus(-discriminator(real)).mean() + F.softplus(discriminator(fake.detach())).mean()
    d_loss.backward()
    d_opt.step()

    g_opt.zero_grad()
    g_loss = F.softplus(-discriminator(fake)).mean()
    g_loss.backward()
    g_opt.step()
