"""A batch drawn from an iterator."""

# expect-direction: forward
# expect-op: div
# expect-cause: division by zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

it = iter([x[i : i + 4] for i in range(0, 16, 4)])
for step in range(3):
    opt.zero_grad()
    out = net(next(it))
    scale = out.std(0) * 0
    z = (out - out.mean(0)) / scale  # here
    z.pow(2).mean().backward()
    opt.step()
