"""A loop that steps by hand never resets what backward adds to."""

# expect-line: loss.backward()
import torch

torch.manual_seed(0)
x = torch.randn(200, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3
w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)

for xb, yb in zip(x.split(10), y.split(10)):
    loss = ((xb @ w + b - yb) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.02 * w.grad
        b -= 0.02 * b.grad
