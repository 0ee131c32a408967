"""Anomaly detection around a whole training."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
with torch.autograd.set_detect_anomaly(True):
    for _ in range(240):
        x = torch.randn(8, 3)
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), x[:, :1]).backward()
        optimizer.step()
