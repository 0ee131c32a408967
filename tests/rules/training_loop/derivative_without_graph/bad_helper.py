"""A helper for derivatives makes no graph, and is asked for the derivative of what it gave."""

# expect-line: return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y))[0]
import torch
from torch import nn

torch.manual_seed(0)


def derivative(y, x):
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y))[0]


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        u = self.body(x)
        slope = derivative(u, x)
        return derivative(slope, x) + u


net = Residual()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(50):
    x = torch.rand(64, 1, requires_grad=True)
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
