"""Meta learning whose copies stay in the graph of the weights that they are copies of."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

for step in range(20):
    loss = 0.0
    for task in range(4):
        x = torch.rand(20, 1) * 6 - 3
        y = (torch.rand(1) * 3 + 0.5) * torch.sin(x + torch.rand(1) * 3)
        own = {name: each.clone() for name, each in net.named_parameters()}
        inner = nn.functional.mse_loss(functional_call(net, own, (x[:10],)), y[:10])
        gradients = torch.autograd.grad(inner, list(own.values()), create_graph=True)
        fast = {name: each - 0.02 * grad for (name, each), grad in zip(own.items(), gradients)}
        loss = loss + nn.functional.mse_loss(functional_call(net, fast, (x[10:],)), y[10:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
