"""Where leaks."""

# expect-direction: backward
# expect-op: LogBackward0
# expect-cause: gradient leaks through a mask

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    h = net(x)
    h = h - h.detach() * (y[:, None] > 0)
    safe = torch.where(h > 0, torch.log(h), 0.0)  # here
    loss = safe.mean()
    loss.backward()
    opt.step()
