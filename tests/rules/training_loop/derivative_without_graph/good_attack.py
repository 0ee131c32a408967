"""Gradients are taken without a graph for an attack, for weights of losses, and as the target of another network."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 3))
energy, score = (nn.Sequential(nn.Linear(8, 24), nn.Softplus(), nn.Linear(24, width)) for width in (1, 8))
opt = torch.optim.Adam([*net.parameters(), *energy.parameters(), *score.parameters()], lr=1e-3)
for i in range(40):
    x, y = torch.randn(32, 8, requires_grad=True), torch.randint(0, 3, (32,))
    slope = torch.autograd.grad(F.cross_entropy(net(x), y), x)[0]
    plain, attacked = F.cross_entropy(net(x), y), F.cross_entropy(net(x + 0.05 * slope.sign()), y)
    sizes = [torch.autograd.grad(each, x, retain_graph=True)[0].norm() for each in (plain, attacked)]
    force = torch.autograd.grad(energy(x).sum(), x)[0]
    loss = plain + sizes[0] / sizes[1] * attacked + F.mse_loss(score(x), force) + energy(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
