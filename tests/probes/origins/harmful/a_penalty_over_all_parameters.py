"""A penalty over all parameters."""

# expect-direction: forward
# expect-op: pow
# expect-cause: power out of range

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

for step in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y) + 0.01 * sum(p.pow(0.5).sum() for p in net.parameters())  # here
    loss.backward()
    opt.step()
