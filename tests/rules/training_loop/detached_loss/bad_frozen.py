"""The new head is frozen together with the layers that were trained before."""

# expect-line: net.requires_grad_(False)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 5))
net[2] = nn.Linear(16, 3)
net.requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(5):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
