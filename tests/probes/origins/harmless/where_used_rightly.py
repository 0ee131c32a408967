"""Where used rightly."""

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    h = net(x).relu()
    ok = h > 0
    safe = torch.where(ok, h, 1.0)
    loss = torch.where(ok, torch.log(safe), 0.0).mean()
    loss.backward()
    opt.step()
