"""The loop follows the gradients of autograd.grad by itself; the optimizer is there for its schedule."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8)
parameters = list(net.parameters())

for step in range(24):
    loss = F.cross_entropy(net(x), y)
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):
        parameter.data -= scheduler.get_last_lr()[0] * gradient
    optimizer.step()
    scheduler.step()
