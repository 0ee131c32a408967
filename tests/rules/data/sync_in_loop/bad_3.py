"""The norms of all gradients, as numbers, in each step of a method."""

# expect-line: self.norms.append(float((p.grad * p).sum() + loss))
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.net = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(6)])
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)
        self.norms = []

    def step(self, xb):
        self.optimizer.zero_grad()
        loss = self.net(xb).square().mean()
        loss.backward()
        for p in self.net.parameters():
            self.norms.append(float((p.grad * p).sum() + loss))
        self.optimizer.step()


torch.manual_seed(0)
trainer = Trainer()
for _ in range(12):
    trainer.step(torch.randn(8, 4))
