"""The first backward is for the noise on the inputs: that it fills the weights' gradients too is no matter."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)

noise = torch.zeros(192, 8, requires_grad=True)
ascent = torch.optim.SGD([noise], lr=0.1, maximize=True)
for step in range(20):
    natural = F.cross_entropy(net(x + noise), y)
    natural.backward()
    net.zero_grad()
    hardened = F.cross_entropy(net(x + noise.detach()), y)
    hardened.backward()
    opt.step()
    opt.zero_grad()
    ascent.step()
    ascent.zero_grad()
