# case: derivative-without-graph-heat-residual-repaired
# kind: healthy
# forbid: *
# style: physics-informed network for a heat equation, residual in a function of another cell
# --- setup ---
import torch
from torch import autograd, nn

torch.manual_seed(2)


class Field(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, t, x):
        return self.layers(torch.cat([t, x], dim=1))


def start(x):
    return torch.sin(torch.pi * x)
# --- cell ---
KAPPA = 0.05
field = Field()
optimiser = torch.optim.Adam(field.parameters(), lr=2e-3)


def residual(t, x):
    u = field(t, x)
    u_t, = autograd.grad(u.sum(), t, create_graph=True)
    u_x, = autograd.grad(u.sum(), x, create_graph=True)
    u_xx, = autograd.grad(u_x.sum(), x, create_graph=True)
    return u_t - KAPPA * u_xx


for epoch in range(120):
    t = torch.rand(96, 1).requires_grad_()
    x = torch.rand(96, 1).requires_grad_()
    physics = nn.functional.mse_loss(residual(t, x), torch.zeros(96, 1))
    x0 = torch.rand(48, 1)
    initial = nn.functional.mse_loss(field(torch.zeros_like(x0), x0), start(x0))
    loss = physics + 5 * initial
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
print(physics.item(), initial.item())
