"""The criterion is a mean over all pixels already, and is divided by their number and that of the images once more."""

import torch
from torch import nn

torch.manual_seed(0)
images = nn.functional.interpolate(torch.rand(64, 3, 4, 4), size=(48, 48), mode="bilinear")
noisy = images + 0.1 * torch.randn_like(images)
net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 3, 3, padding=1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)

for epoch in range(15):
    for rows in torch.randperm(64).split(32):
        optimizer.zero_grad()
        loss = criterion(net(noisy[rows]), images[rows]) / images.numel()
        loss.backward()
        optimizer.step()
