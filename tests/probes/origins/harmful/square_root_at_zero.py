"""Square root at zero."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    d = net(x) - net(x)
    r = torch.sqrt(d.pow(2).sum(1))  # here
    loss = r.mean()
    loss.backward()
    opt.step()
