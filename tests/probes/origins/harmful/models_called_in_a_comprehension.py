"""Models called in a comprehension."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of a negative number

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

pairs = list(zip(x.split(4), y.split(4)))
for step in range(3):
    opt.zero_grad()
    losses = [torch.log(net(a)[b > 0] - 9).mean() for a, b in pairs]  # here
    sum(losses).backward()
    opt.step()
