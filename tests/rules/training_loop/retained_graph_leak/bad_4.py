"""Inside a function the mean is kept up to date with its graph."""

# expect-line: smoothed = 0.9 * smoothed + 0.1 * objective
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))


def train(model, steps):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    smoothed = torch.zeros(())
    for _ in range(steps):
        opt.zero_grad()
        objective = F.cross_entropy(model(x), y)
        objective.backward()
        opt.step()
        smoothed = 0.9 * smoothed + 0.1 * objective
    return smoothed.item()


train(net, 24)
