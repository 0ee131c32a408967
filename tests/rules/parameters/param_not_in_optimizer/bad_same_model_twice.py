"""The optimizer of the generator was given the discriminator."""

# expect-line: optG = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

real = torch.randn(256, 2) * 0.3 + 1
netG = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))
netD = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optG = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.999))
for step in range(40):
    batch = real[torch.randint(0, 256, (32,))]
    fake = netG(torch.randn(32, 4))
    optD.zero_grad()
    F.binary_cross_entropy_with_logits(netD(batch), torch.ones(32, 1)).backward()
    F.binary_cross_entropy_with_logits(netD(fake.detach()), torch.zeros(32, 1)).backward()
    optD.step()
    optG.zero_grad()
    netG.zero_grad()
    F.binary_cross_entropy_with_logits(netD(fake), torch.ones(32, 1)).backward()
    optG.step()
