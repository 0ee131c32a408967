# case: healthy-gan-digits-logits
# kind: healthy
# forbid: *
# style: image GAN, two optimizers, detach, label smoothing, BatchNorm in the generator
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
real_images = torch.tensor(load_digits().data / 8 - 1).float()
netG = nn.Sequential(nn.Linear(8, 48), nn.BatchNorm1d(48), nn.ReLU(True), nn.Linear(48, 64), nn.Tanh())
netD = nn.Sequential(nn.Linear(64, 48), nn.LeakyReLU(0.2, inplace=True), nn.Linear(48, 1))
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
# --- cell ---
d_losses, g_losses = [], []
for epoch in range(4):
    for rows in torch.randperm(len(real_images)).split(64)[:-1]:
        # discriminator: real, then fake
        netD.zero_grad()
        errD_real = criterion(netD(real_images[rows]), torch.full((64, 1), 0.9))
        errD_real.backward()
        fake = netG(torch.randn(64, 8))
        errD_fake = criterion(netD(fake.detach()), torch.zeros(64, 1))
        errD_fake.backward()
        optimizerD.step()
        # generator
        netG.zero_grad()
        errG = criterion(netD(fake), torch.ones(64, 1))
        errG.backward()
        optimizerG.step()
        d_losses.append((errD_real + errD_fake).item())
        g_losses.append(errG.item())
print(d_losses[-1], g_losses[-1])
