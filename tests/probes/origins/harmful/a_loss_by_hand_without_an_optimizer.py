"""A loss by hand, without an optimizer."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

w = torch.randn(4, 1, requires_grad=True)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for step in range(5):
    error = x @ w - y
    loss = torch.log(error.pow(2) * (step < 3)).mean()  # here
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        w.grad = None
