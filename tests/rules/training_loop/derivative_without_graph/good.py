"""The residual of a heat equation has a graph of each derivative."""

import torch
from torch import nn

torch.manual_seed(0)
field = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(field.parameters(), lr=3e-3)
x0 = torch.linspace(0, 1, 32)[:, None]


def residual(t, x):
    u = field(torch.cat([t, x], dim=1))
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    return u_t - 0.1 * u_xx


for i in range(60):
    t, x = torch.rand(64, 1, requires_grad=True), torch.rand(64, 1, requires_grad=True)
    start = field(torch.cat([torch.zeros_like(x0), x0], dim=1)) - torch.sin(torch.pi * x0)
    loss = residual(t, x).square().mean() + start.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
