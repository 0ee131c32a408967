"""One thread on a machine of many cores."""

# needs: 4 cores
# profile: steps=5
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(10):
    x = torch.randn(512, 512)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x).backward()
    optimizer.step()
