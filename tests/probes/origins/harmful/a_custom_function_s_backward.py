"""A custom function's backward."""

# expect-direction: backward
# expect-op: div
# expect-cause: backward of a custom function

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


class Invert(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h):
        return h * 1.0

    @staticmethod
    def backward(ctx, gradient):
        return gradient / 0.0  # here


for step in range(3):
    opt.zero_grad()
    out = net(x)
    loss = Invert.apply(out).sum()
    loss.backward()
    opt.step()
