"""A loss that is a sum over pixels and samples has large gradients by nature, and falls."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
encoder, decoder = nn.Linear(256, 16), nn.Linear(8, 256)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
x = (torch.rand(128, 256) > 0.9).float()

for step in range(15):
    optimizer.zero_grad()
    mean, log_variance = encoder(x).chunk(2, dim=1)
    z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
    reconstruction = F.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum")
    divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum()
    loss = reconstruction + divergence
    loss.backward()
    optimizer.step()
