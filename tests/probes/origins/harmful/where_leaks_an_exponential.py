"""Where leaks an exponential."""

# expect-direction: backward
# expect-op: ExpBackward0
# expect-cause: gradient leaks through a mask

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    h = net(x) * 500
    e = torch.exp(h)  # here
    loss = torch.where(h < 50, e, 1.0).clamp_max(9).mean()
    loss.backward()
    opt.step()
