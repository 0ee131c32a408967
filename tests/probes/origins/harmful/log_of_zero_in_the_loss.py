"""Log of zero in the loss."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    p = net(x).relu()
    loss = -torch.log(p).mean()  # here
    loss.backward()
    opt.step()
