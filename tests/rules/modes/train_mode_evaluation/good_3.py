"""A generator with batch norm draws pictures while it trains; statistics are renewed by torch itself."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
fixed, one, zero = torch.randn(16, 4), torch.ones(32, 1), torch.zeros(32, 1)
pictures = []
for step in range(12):
    real = torch.randn(32, 2) + 2
    with torch.no_grad():
        fake = G(torch.randn(32, 4))
    opt_d.zero_grad()
    d_loss = F.binary_cross_entropy_with_logits(D(real), one) + F.binary_cross_entropy_with_logits(D(fake), zero)
    d_loss.backward()
    opt_d.step()
    opt_g.zero_grad()
    F.binary_cross_entropy_with_logits(D(G(torch.randn(32, 4))), one).backward()
    opt_g.step()
    if step % 4 == 3:
        with torch.no_grad():
            pictures.append(G(fixed))
torch.optim.swa_utils.update_bn([torch.randn(32, 4) for _ in range(4)], G)
