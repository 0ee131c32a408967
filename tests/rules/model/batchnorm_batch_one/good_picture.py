"""A network that is fitted to a single picture, from noise: batch norm sees all its pixels."""

import torch
from torch import nn

torch.manual_seed(0)
ys, xs = torch.meshgrid(torch.linspace(0, 1, 16), torch.linspace(0, 1, 16), indexing="ij")
picture = (0.2 + 0.6 * ((ys - 0.5) ** 2 + (xs - 0.5) ** 2 < 0.1).float())[None, None]
noise = torch.rand(1, 4, 16, 16)
net = nn.Sequential(
    nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3, padding=1), nn.Sigmoid()
)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(noise + 0.01 * torch.randn_like(noise)), picture)
    loss.backward()
    optimizer.step()
