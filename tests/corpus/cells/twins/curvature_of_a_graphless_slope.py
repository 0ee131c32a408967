# case: derivative-without-graph-curvature-of-a-graphless-slope-repaired
# kind: healthy
# forbid: *
# style: PINN for a damped oscillator, a helper for derivatives without create_graph is applied twice
# --- setup ---
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
t0 = torch.zeros(1, 1, requires_grad=True)


def slope(y, x):
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)[0]
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(200):
    t = (4 * torch.rand(64, 1)).requires_grad_()
    u = net(t)
    velocity = slope(u, t)
    residual = slope(velocity, t) + 0.2 * velocity + u
    start = (net(t0) - 1).pow(2).mean()
    loss = residual.pow(2).mean() + start
    opt.zero_grad()
    loss.backward()
    opt.step()
