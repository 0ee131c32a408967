"""Adam without epsilon."""

# expect-direction: update
# expect-op: addcdiv_ | _foreach_addcdiv_
# expect-cause: zero over zero
# expect-parameter: net.0.weight

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

x[:, 2] = 0
opt = torch.optim.Adam(net.parameters(), lr=0.001, eps=0.0)
for step in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()  # here
