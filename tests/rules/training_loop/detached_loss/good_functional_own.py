"""A net that lends its forward to weights of an optimizer: its own never get a gradient, and nobody asks for one."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
weights = {name: each.detach().clone().requires_grad_() for name, each in net.named_parameters()}
optimizer = torch.optim.Adam(weights.values(), lr=1e-2)

for step in range(20):
    x = torch.randn(32, 4)
    optimizer.zero_grad()
    nn.functional.mse_loss(functional_call(net, weights, (x,)), x[:, :1]).backward()
    optimizer.step()
