"""The bound is negated once before it is made small."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
pixels = torch.rand(256, 16).round()
encoder = nn.Linear(16, 8)
decoder = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 16))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)

for epoch in range(12):
    for x in pixels.split(32):
        mu, logvar = encoder(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        bce = F.binary_cross_entropy_with_logits(decoder(z), x, reduction="none").sum(1)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)
        bound = (-bce - kl).mean()
        optimizer.zero_grad()
        (-bound).backward()
        optimizer.step()
