"""Networks in two lists are called by a method that is not forward, so that each of them is a model by itself."""

# expect-line: self.scales, self.shifts = [net() for _ in range(4)], [net() for _ in range(4)]
import torch
from torch import nn


def net():
    return nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales, self.shifts = [net() for _ in range(4)], [net() for _ in range(4)]
        self.mean = nn.Parameter(torch.zeros(2))

    def log_prob(self, x):
        left, right = x.chunk(2, 1)
        logs = 0.0
        for scale, shift in zip(self.scales, self.shifts):
            left, right = right, left * torch.exp(scale(right).tanh()) + shift(right)
            logs = logs + scale(left).tanh().sum(1)
        return logs - ((torch.cat([left, right], 1) - self.mean) ** 2).sum(1)


torch.manual_seed(0)
flow = Flow()
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
for _ in range(12):
    optimizer.zero_grad()
    loss = -flow.log_prob(torch.randn(32, 2)).mean()
    loss.backward()
    optimizer.step()
