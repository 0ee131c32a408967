# case: derivative-without-graph-critic-penalty-repaired
# kind: healthy
# forbid: *
# style: WGAN-GP on moons with a trainer class, penalty weighted by an attribute
# --- setup ---
import torch
from sklearn.datasets import make_moons
from torch import nn

torch.manual_seed(0)
points = torch.tensor(make_moons(1024, noise=0.05, random_state=0)[0]).float()


def mlp(*sizes):
    layers = [each for a, b in zip(sizes, sizes[1:]) for each in (nn.Linear(a, b), nn.LeakyReLU(0.2))]
    return nn.Sequential(*layers[:-1])
# --- cell ---
class Trainer:
    def __init__(self, lambda_gp=10.0):
        self.lambda_gp = lambda_gp
        self.generator, self.critic = mlp(8, 48, 48, 2), mlp(2, 48, 48, 1)
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.0, 0.9))

    def penalty(self, real, fake):
        share = torch.rand(len(real), 1)
        between = (share * real + (1 - share) * fake).requires_grad_(True)
        score = self.critic(between)
        gradient = torch.autograd.grad(outputs=score.sum(), inputs=between, create_graph=True)[0]
        return (gradient.norm(2, dim=1) - 1).pow(2).mean()

    def step(self, real):
        for _ in range(2):
            fake = self.generator(torch.randn(len(real), 8)).detach()
            loss_c = self.critic(fake).mean() - self.critic(real).mean()
            loss_c = loss_c + self.lambda_gp * self.penalty(real, fake)
            self.opt_c.zero_grad()
            loss_c.backward()
            self.opt_c.step()
        loss_g = -self.critic(self.generator(torch.randn(len(real), 8))).mean()
        self.opt_g.zero_grad()
        loss_g.backward()
        self.opt_g.step()
        return loss_c.item(), loss_g.item()


trainer = Trainer()
for epoch in range(6):
    for rows in torch.randperm(1024).split(128):
        losses = trainer.step(points[rows])
    print(epoch, losses)
