"""The same distance with a small number under the root, and one from torch that is safe by itself."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
a, b = torch.randn(16, 4), torch.randn(16, 4)
b[5] = a[5]

for step in range(8):
    optimizer.zero_grad()
    difference = net(a) - net(b)
    loss = torch.sqrt(difference.pow(2).sum(1) + 1e-12).mean() + difference.norm(dim=1).mean()
    loss.backward()
    optimizer.step()
