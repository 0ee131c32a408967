"""A sigmoid for pictures in 0 to 1, a softplus for counts, a scaled tanh, a ReLU with few outliers."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
picture = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid())
count, angle, size = nn.Linear(8, 1), nn.Linear(8, 1), nn.Linear(8, 1)
nn.init.ones_(size.bias)
optimizer = torch.optim.Adam([p for m in (picture, count, angle, size) for p in m.parameters()], lr=1e-3)
for step in range(8):
    x = torch.randn(64, 8)
    optimizer.zero_grad()
    loss = F.mse_loss(picture(x), x.sigmoid())
    loss = loss + F.smooth_l1_loss(F.softplus(count(x)), x[:, :1].abs())
    loss = loss + F.mse_loss(3.2 * torch.tanh(angle(x)), 3 * x[:, 1:2].tanh())
    loss = loss + F.l1_loss(F.relu(size(x)), x[:, :1] + 2)
    loss.backward()
    optimizer.step()
