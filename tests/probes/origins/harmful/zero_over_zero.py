"""Zero over zero."""

# expect-direction: forward
# expect-op: div
# expect-cause: zero over zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    out = net(x)
    count = (y > 5).float().sum()
    loss = (out.sum() * 0) / count  # here
    loss = loss + 1
    loss.backward()
    opt.step()
