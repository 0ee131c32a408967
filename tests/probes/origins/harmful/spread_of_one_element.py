"""Spread of one element."""

# expect-direction: forward
# expect-op: std | var
# expect-cause: spread of one element

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    out = net(x[:1])
    z = out / (1 + out.std(dim=0))  # here
    loss = z.sum()
    loss.backward()
    opt.step()
