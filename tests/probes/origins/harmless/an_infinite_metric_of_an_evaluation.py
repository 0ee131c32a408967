"""An infinite metric of an evaluation."""

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    with torch.no_grad():
        metric = (1 / (net(x) * 0)).mean()
    loss.backward()
    opt.step()
