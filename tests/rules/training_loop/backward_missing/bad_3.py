"""The generator of a GAN is stepped, but its loss is never sent backward."""

# expect-line: g_opt.step()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3)
d_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)

for step in range(10):
    real, noise = torch.randn(32, 2) + 2, torch.randn(32, 4)
    d_opt.zero_grad()
    d_loss = F.softplus(-critic(real)).mean() + F.softplus(critic(generator(noise).detach())).mean()
    d_loss.backward()
    d_opt.step()
    g_opt.zero_grad()
    g_loss = F.softplus(-critic(generator(noise))).mean()
    g_opt.step()
