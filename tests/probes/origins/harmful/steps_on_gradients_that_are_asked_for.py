"""Steps by hand on gradients that are asked for."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
x = torch.randn(16, 4)

for step in range(4):
    out = net(x)
    if step == 2:
        out = out - out.detach()
    loss = out.pow(2).sum(1).sqrt().mean()  # here
    gradients = torch.autograd.grad(loss, list(net.parameters()))
    with torch.no_grad():
        for w, g in zip(net.parameters(), gradients):
            w -= 0.1 * g
