"""Gradient accumulation in a function, forward."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of a negative number

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


def accumulate(model, parts):
    for i, (xb, yb) in enumerate(parts):
        share = model(xb).softmax(1).gather(1, yb[:, None]) - (2 if i == 2 else 0)
        (-torch.log(share).mean() / 4).backward()  # here


for step in range(3):
    opt.zero_grad()
    accumulate(net, list(zip(x.split(4), y.split(4))))
    opt.step()
