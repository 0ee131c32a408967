"""Functional code."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

w = torch.randn(4, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
opt = torch.optim.SGD([w, b], lr=0.01)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for step in range(3):
    opt.zero_grad()
    pred = (x @ w + b) * 0
    loss = torch.sqrt((pred * y).abs()).mean()  # here
    loss.backward()
    opt.step()
