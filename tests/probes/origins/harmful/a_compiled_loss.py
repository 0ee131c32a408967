"""A compiled loss."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(-1))
opt = torch.optim.SGD(net.parameters(), 0.1)


def f(x, y):
    return F.nll_loss(net(x).log(), y)  # here


g = torch.compile(f, backend="eager")
for i in range(4):
    loss = g(torch.randn(8, 4) * (1e5 if i == 2 else 1), torch.randint(0, 3, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
