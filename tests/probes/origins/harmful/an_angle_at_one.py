"""An angle at one."""

# expect-direction: backward
# expect-op: AcosBackward0
# expect-cause: argument out of the function's domain

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    h = net(x)
    u = h / h.abs()
    loss = torch.acos(u).mean()  # here
    loss.backward()
    opt.step()
