"""A scaler that never finds a scale."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

scaler = torch.amp.GradScaler("cpu")
for step in range(40):
    opt.zero_grad()
    out = net(x)
    d = (out - out.detach()).pow(2).sum(1)
    loss = d.sqrt().mean()  # here
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
