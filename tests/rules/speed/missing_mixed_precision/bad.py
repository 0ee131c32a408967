"""Large layers in float32 on a machine that has faster products."""

# needs: amp
# profile: steps=5
# expect-line: nn.functional.mse_loss(net(x), x).backward()
# expect-module: net
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(8):
    x = torch.randn(256, 512)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x).backward()
    optimizer.step()
