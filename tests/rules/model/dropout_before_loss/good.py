"""Dropout works on features, in front of the last layer, and on inputs that are put together again."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0)
net = nn.Sequential(nn.Dropout(0.1), nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3), nn.Dropout(0.0))
denoising = nn.Sequential(nn.Dropout(0.2), nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8))
opt = torch.optim.Adam([*net.parameters(), *denoising.parameters()], lr=5e-3)
for epoch in range(5):
    for part in torch.randperm(256).split(32):
        loss = F.cross_entropy(net(x[part]), y[part]) + F.mse_loss(denoising(x[part]), x[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
