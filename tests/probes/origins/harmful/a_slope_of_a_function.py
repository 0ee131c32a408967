"""A slope of a function of tensors alone, at the first step."""

# expect-direction: backward
# expect-op: PowBackward0
# expect-cause: power out of range

from torch.func import grad

x = torch.randn(16, 4)


def length(w, x):
    return (x @ w).norm(dim=1, p=2).pow(0.5).mean()  # here


w = torch.zeros(4, 3)
for _ in range(4):
    w = w - 0.1 * grad(length)(w, x)
