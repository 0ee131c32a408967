"""A loss that nobody goes back from."""

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    out = net(x)
    other = F.mse_loss(out, out / 0.0)
    loss = F.cross_entropy(out, y)
    loss.backward()
    opt.step()
