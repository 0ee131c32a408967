"""A NaN that nanmean leaves out."""

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    out = net(x)
    t = torch.where(y == 0, float("nan"), 1.0)
    loss = torch.nanmean((out.sum(1) - t).detach()) + F.cross_entropy(out, y)
    loss.backward()
    opt.step()
