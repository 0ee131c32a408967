"""Backward under autocast."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    out = net(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = net(x) @ torch.randn(3, 3)
        d = scores - scores.detach()
        loss = d.float().pow(2).sum(1).sqrt().mean()  # here
    loss.backward()
    opt.step()
