"""The gradient of an attack is thrown away before the one that trains."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for step in range(12):
    adversarial = x.clone().requires_grad_(True)
    F.cross_entropy(net(adversarial), y).backward()
    adversarial = (x + 0.01 * adversarial.grad.sign()).detach()
    optimizer.zero_grad()
    F.cross_entropy(net(adversarial), y).backward()
    optimizer.step()
