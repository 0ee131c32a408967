"""Loops that step by hand reset gradients after the step, in place or to None, and may add up two batches for one."""

import torch

torch.manual_seed(0)
x = torch.randn(200, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3
w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)

for i, (xb, yb) in enumerate(zip(x.split(10), y.split(10))):
    loss = ((xb @ w + b - yb) ** 2).mean() / 2
    loss.backward()
    if i % 2:
        with torch.no_grad():
            for p in (w, b):
                p -= 0.1 * p.grad
                p.grad.zero_()
