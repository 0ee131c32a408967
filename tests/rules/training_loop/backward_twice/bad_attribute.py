"""A quantity that is derived from a parameter is computed once, in the constructor."""

# expect-line: self.sigma = self.log_sigma.exp()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 3)


class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu, self.log_sigma = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(3))
        self.sigma = self.log_sigma.exp()

    def forward(self, x):
        return -0.5 * ((x - self.mu) / self.sigma).pow(2) - self.log_sigma


model = Gaussian()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(10):
    opt.zero_grad()
    loss = -model(x).mean()
    loss.backward()
    opt.step()
