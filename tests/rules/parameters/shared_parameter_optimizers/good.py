"""An adversarial autoencoder: the encoder is stepped by two optimizers, each after its own backward."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)

enc, dec, disc = nn.Sequential(nn.Linear(8, 4), nn.Tanh()), nn.Linear(4, 8), nn.Linear(4, 1)
o1 = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
o2 = torch.optim.Adam(enc.parameters())
o3 = torch.optim.Adam(disc.parameters())
for i in range(20):
    o1.zero_grad()
    F.mse_loss(dec(enc(x)), x).backward()
    o1.step()
    o3.zero_grad()
    (F.softplus(-disc(torch.randn(96, 4))) + F.softplus(disc(enc(x).detach()))).mean().backward()
    o3.step()
    o2.zero_grad()
    F.softplus(-disc(enc(x))).mean().backward()
    o2.step()
