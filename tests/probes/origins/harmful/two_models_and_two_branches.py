"""Two models and two branches."""

# expect-direction: forward
# expect-op: div
# expect-cause: division by zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

other = nn.Linear(4, 3)
opt = torch.optim.Adam([*net.parameters(), *other.parameters()])
for step in range(3):
    a, b = net(x), other(x)
    if step >= 0:
        p = a.softmax(1)
        q = b.softmax(1) * (y[:, None] > 0)
        loss = (p * (p / q).log()).sum(1).mean()  # here
    else:
        loss = a.mean()
    total = 0.5 * loss
    total += 0.1 * b.pow(2).mean()
    opt.zero_grad()
    total.backward()
    opt.step()
