"""Random data from a seed that is set in each step."""

# expect-line: xb = torch.randn(64, 5)
import torch
from torch import nn

net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(25):
    torch.manual_seed(0)
    xb = torch.randn(64, 5)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), xb.sum(1, keepdim=True)).backward()
    optimizer.step()
