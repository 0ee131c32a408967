"""Micro-batches of a large batch, a squared error that is written out, in nested loops."""

# expect-line: ((model(part) - wanted) ** 2).mean().backward()
import torch
from torch import nn

torch.manual_seed(0)
inputs, targets = torch.randn(240, 8), torch.randn(240, 1)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for big, goal in zip(inputs.split(40), targets.split(40)):
    opt.zero_grad(set_to_none=True)
    for part, wanted in zip(big.chunk(4), goal.chunk(4)):
        ((model(part) - wanted) ** 2).mean().backward()
    opt.step()
