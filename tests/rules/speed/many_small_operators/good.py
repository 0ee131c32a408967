"""The same with layers of torch's."""

# profile: steps=5
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(*[nn.Sequential(nn.LayerNorm(64), nn.GELU(approximate="tanh")) for _ in range(6)], nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
for step in range(8):
    x = torch.randn(8192, 64)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x[:, :1]).backward()
    optimizer.step()
