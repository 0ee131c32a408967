"""Each gradient is bounded by hand once the scale is taken out of it."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long()

for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    scaler.scale(nn.functional.cross_entropy(net(xb), yb)).backward()
    scaler.unscale_(optimizer)
    for p in net.parameters():
        p.grad.clamp_(-0.01, 0.01)
    scaler.step(optimizer)
    scaler.update()
