"""Batches so large that a shorter one takes less."""

# profile: steps=4
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(30):
    x = torch.randn(2048 if step % 5 else 256, 64)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x[:, :1]).backward()
    optimizer.step()
