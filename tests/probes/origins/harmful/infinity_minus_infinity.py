"""Infinity minus infinity."""

# expect-direction: forward
# expect-op: sub
# expect-cause: infinity minus infinity

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    bias = torch.full((3,), float("-inf"))
    a = net(x) + bias
    b = bias.clone()
    loss = (a - b).mean()  # here
    loss.backward()
    opt.step()
