"""A fold each: its own model, its own optimizer."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
for fold in x.split(48):
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(6):
        optimizer.zero_grad()
        F.cross_entropy(model(fold), (fold[:, 0] > 0).long()).backward()
        optimizer.step()
