"""The difference is taken by a function, and the target is the wider one."""

# expect-line: error = torch.sub(net(x).squeeze(1), y)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for step in range(8):
    x = torch.randn(48, 4)
    y = x.sum(1, keepdim=True)
    optimizer.zero_grad()
    error = torch.sub(net(x).squeeze(1), y)
    loss = error.abs().mean()
    loss.backward()
    optimizer.step()
