"""New weights in each step."""

# expect-direction: forward
# expect-op: div
# expect-cause: zero over zero

x, y = torch.randn(16, 4), torch.randn(16, 1)
w = torch.randn(4, 1, requires_grad=True)

for step in range(4):
    keep = (torch.rand(16, 1) < 0.5) * (step != 2)
    loss = (keep * (x @ w - y) ** 2).sum() / keep.sum()  # here
    (g,) = torch.autograd.grad(loss, w)
    w = (w - 0.1 * g).detach().requires_grad_()
