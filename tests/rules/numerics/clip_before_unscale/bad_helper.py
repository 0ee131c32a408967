"""A function of the user's own bounds the norm while it is a thousand times too large."""

# expect-line: p.grad.mul_(most / norm)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long()


def clip(parameters, most):
    norm = torch.stack([p.grad.norm() for p in parameters]).norm()
    if norm > most:
        for p in parameters:
            p.grad.mul_(most / norm)


for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    scaler.scale(nn.functional.cross_entropy(net(xb), yb)).backward()
    clip(list(net.parameters()), 0.1)
    scaler.step(optimizer)
    scaler.update()
