"""Channels and positions change places before and after each layer, and are copied for it."""

# profile: steps=8
import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(16, 16)

    def forward(self, x):
        for _ in range(4):
            x = x.transpose(1, 2).contiguous()
            x = torch.relu(x.permute(2, 0, 1).contiguous()).permute(1, 2, 0).clone()
            x = x.transpose(1, 2).contiguous()
        return self.mix(x)


torch.manual_seed(0)
net = Mixer()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(64, 128, 16)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x).backward()
    optimizer.step()
