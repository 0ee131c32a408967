"""A custom function's forward."""

# expect-direction: forward
# expect-op: reciprocal | div
# expect-cause: division by zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


class Invert(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h):
        return 1 / (h * 0)  # here

    @staticmethod
    def backward(ctx, gradient):
        return gradient


loss = Invert.apply(net(x)).sum()
loss.backward()
opt.step()
