"""A loss that is a lambda."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of a negative number

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

criterion = lambda o, t: torch.log(o - 9).mean()  # here
for step in range(3):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    opt.step()
