"""The same with views alone, and one copy where it is needed."""

# profile: steps=8
import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(16, 64)

    def forward(self, x):
        for _ in range(4):
            x = torch.relu(x)
        return self.mix(x).transpose(1, 2)


torch.manual_seed(0)
net = Mixer()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(64, 128, 16)
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
