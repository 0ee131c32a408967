"""What a part gives is computed without gradients; the function that learns also returns a number to show."""

# expect-line: with torch.no_grad():
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, goal = torch.randn(96, 8), torch.randn(96, 2)


class Agent:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
        self.head = nn.Linear(16, 2)
        self.opt = torch.optim.Adam([*self.encoder.parameters(), *self.head.parameters()], lr=1e-2)

    def learn(self, code):
        loss = F.mse_loss(self.head(code), goal)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return {"loss": loss.item()}

    def update(self):
        with torch.no_grad():
            code = self.encoder(x)
        return self.learn(code)


agent = Agent()
for i in range(12):
    agent.update()
