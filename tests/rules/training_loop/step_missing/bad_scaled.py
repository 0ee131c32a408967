"""Gradients are scaled by hand for a step that never comes."""

# expect-line: nn.functional.mse_loss(model(x), y).backward()
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Linear(8, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(12):
    opt.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    for p in model.parameters():
        p.grad.mul_(0.5)
