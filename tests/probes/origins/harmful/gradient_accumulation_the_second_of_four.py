"""Gradient accumulation, the second of four."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

for step in range(3):
    opt.zero_grad()
    for i, (xb, yb) in enumerate(zip(x.split(4), y.split(4))):
        out = net(xb)
        if i == 1:
            extra = (out - out.detach()).abs().sum(1)
        else:
            extra = out.abs().sum(1)
        loss = F.cross_entropy(out, yb) + extra.sqrt().mean()  # here
        loss = loss / 4
        loss.backward()
    opt.step()
