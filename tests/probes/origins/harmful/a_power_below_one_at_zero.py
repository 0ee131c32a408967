"""A power below one at zero."""

# expect-direction: backward
# expect-op: PowBackward0
# expect-cause: power out of range

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    h = net(x)
    h = h - h.detach()
    q = h.pow(0.3)  # here
    loss = q.mean()
    loss.backward()
    opt.step()
