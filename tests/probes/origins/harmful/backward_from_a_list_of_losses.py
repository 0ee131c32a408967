"""Backward from a list of losses."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of a negative number

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

for step in range(3):
    opt.zero_grad()
    out = net(x)
    a = F.cross_entropy(out, y)
    b = torch.log(out - 9).mean()  # here
    torch.autograd.backward([a, b])
    opt.step()
