"""The gradient penalty of a critic is taken without a graph, so that it limits nothing."""

# expect-line: slope = torch.autograd.grad(score.sum(), mixed)[0]
import torch
from torch import nn

torch.manual_seed(0)


class Critic:
    def __init__(self, weight=10.0):
        self.net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
        self.weight = weight

    def penalty(self, real, fake):
        share = torch.rand(len(real), 1)
        mixed = (share * real + (1 - share) * fake).requires_grad_()
        score = self.net(mixed)
        slope = torch.autograd.grad(score.sum(), mixed)[0]
        return ((slope.norm(dim=1) - 1) ** 2).mean()

    def loss(self, real, fake):
        return self.net(fake).mean() - self.net(real).mean() + self.weight * self.penalty(real, fake)


critic = Critic()
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt_c = torch.optim.Adam(critic.net.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
for i in range(40):
    real = torch.randn(64, 2) * 0.3 + torch.tensor([1.0, -1.0])
    loss_c = critic.loss(real, generator(torch.randn(64, 4)).detach())
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    loss_g = -critic.net(generator(torch.randn(64, 4))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
