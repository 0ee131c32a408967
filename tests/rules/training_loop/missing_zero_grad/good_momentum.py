"""Gradients are not reset but decay: what is left of them is the momentum."""

# sound
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(40):
    rows = torch.randint(0, 256, (32,))
    nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
    opt.step()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.grad *= 0.85
