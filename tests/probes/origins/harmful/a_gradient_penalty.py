"""A gradient penalty."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

for step in range(3):
    opt.zero_grad()
    xi = torch.rand(16, 4).requires_grad_()
    out = net(xi)
    (slope,) = torch.autograd.grad((out - out.detach()).pow(2).sum(), xi, create_graph=True)
    length = slope.pow(2).sum(1).sqrt()  # here
    loss = (length - 1).pow(2).mean() + out.mean()
    loss.backward()
    opt.step()
