"""Gradients that are asked for and assigned."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

for step in range(4):
    p = net(x).softmax(1)
    if step == 2:
        p = p * (p > 0.9)
    loss = -p.log().gather(1, y[:, None]).mean()  # here
    gradients = torch.autograd.grad(loss, list(net.parameters()))
    for w, g in zip(net.parameters(), gradients):
        w.grad = g
    opt.step()
