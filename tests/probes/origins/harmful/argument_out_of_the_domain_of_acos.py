"""Argument out of the domain of acos."""

# expect-direction: forward
# expect-op: acos
# expect-cause: argument out of the function's domain

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    a = net(x)
    loss = torch.acos(a.abs() + 1.5).mean()  # here
    loss.backward()
    opt.step()
