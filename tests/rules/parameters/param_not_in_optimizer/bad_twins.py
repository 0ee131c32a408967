"""Of two networks of one shape, whose answers are averaged, the optimizer was given the first alone."""

# expect-module: second.0
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)


def network():
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))


first, second = network(), network()
optimizer = torch.optim.Adam(first.parameters(), lr=1e-2)
for step in range(8):
    optimizer.zero_grad()
    second.zero_grad()
    loss = nn.functional.mse_loss((first(x) + second(x)) / 2, y)
    loss.backward()
    optimizer.step()
