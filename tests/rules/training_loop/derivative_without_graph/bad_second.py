"""The second derivative of a differential equation is asked for where the first one has no graph."""

# expect-line: (du,) = torch.autograd.grad(u.sum(), t)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(50):
    t = (torch.rand(64, 1) * 4).requires_grad_()
    u = net(t)
    (du,) = torch.autograd.grad(u.sum(), t)
    (ddu,) = torch.autograd.grad(du.sum(), t, create_graph=True)
    loss = ((ddu + u) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
