"""A tanh for pictures from 0 to 255, with an absolute error."""

# expect-module: net.3
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.GELU(), nn.Conv2d(4, 1, 3, padding=1), nn.Tanh())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.L1Loss()
for step in range(6):
    pictures = torch.randint(0, 256, (8, 1, 8, 8)).float()
    optimizer.zero_grad()
    loss = criterion(net(pictures / 255), pictures)
    loss.backward()
    optimizer.step()
