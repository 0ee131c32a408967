"""Raw numbers that are normalised on the way: by a layer, by the model's own arithmetic, or not a scale at all."""

import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net((x - 500.0) / 100.0)


class Standard(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.rate = nn.Parameter(torch.full((3,), 500.0)), nn.Parameter(torch.full((3,), 100.0))

    def forward(self, x):
        return (x - self.mean) / self.rate


torch.manual_seed(0)
raw = 500 + 100 * torch.randn(256, 3)
target = (raw[:, :1] - 500) / 100
for net in (
    nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1)),
    nn.Sequential(nn.BatchNorm1d(3, affine=False), nn.Linear(3, 1)),
    Scaled(),
    nn.Sequential(Standard(), nn.Linear(3, 1)),
):
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for i in range(0, 256, 16):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(raw[i : i + 16]), target[i : i + 16]).backward()
        optimizer.step()
