"""Power out of range."""

# expect-direction: forward
# expect-op: pow
# expect-cause: power out of range

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    out = net(x)
    loss = out.abs().add(9).pow(60).mean()  # here
    loss.backward()
    opt.step()
