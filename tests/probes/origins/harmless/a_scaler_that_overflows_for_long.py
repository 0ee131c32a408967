"""A scaler that overflows for long."""

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, backoff_factor=0.99, growth_interval=1000)
for step in range(40):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    scaler.scale(1000 * loss).backward()
    scaler.step(opt)
    scaler.update()
