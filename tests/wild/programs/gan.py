"""A GAN with batch norm in the generator and dropout in the discriminator, after the common tutorial."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
images = torch.tensor(load_digits().data, dtype=torch.float32) / 8 - 1
loader = DataLoader(TensorDataset(images), batch_size=64, shuffle=True, drop_last=True)
netG = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(True), nn.Linear(64, 64), nn.Tanh())
netD = nn.Sequential(nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(64, 1))
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
for epoch in range(8):
    for (real,) in loader:
        netD.zero_grad()
        label = torch.ones(real.size(0), 1)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        fake = netG(torch.randn(real.size(0), 16))
        label = torch.zeros_like(label)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        optimizerD.step()
        netG.zero_grad()
        errG = criterion(netD(fake), torch.ones_like(label))
        errG.backward()
        optimizerG.step()
result = [*netD.state_dict().values(), *netG.state_dict().values()]
