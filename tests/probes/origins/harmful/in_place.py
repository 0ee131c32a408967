"""In place."""

# expect-direction: forward
# expect-op: sqrt_
# expect-cause: square root of a negative number

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    h = net(x)
    h = h.clone()
    h.sub_(9).sqrt_()  # here
    loss = h.sum()
    loss.backward()
    opt.step()
