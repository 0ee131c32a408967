"""The same in mixed precision."""

# profile: steps=5
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(8):
    x = torch.randn(256, 512)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(net(x), x)
    loss.backward()
    optimizer.step()
