"""The schedule moves on, the optimizer does not."""

# expect-line: self.sched.step()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))


class Learner:
    def __init__(self, model):
        self.model = model
        self.optim = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.sched = torch.optim.lr_scheduler.ExponentialLR(self.optim, 0.9)

    def fit(self, epochs):
        for epoch in range(epochs):
            for i in range(0, 192, 64):
                self.optim.zero_grad(set_to_none=True)
                F.cross_entropy(self.model(x[i : i + 64]), y[i : i + 64]).backward()
            self.sched.step()


Learner(net).fit(4)
