"""A function that calls the model and makes the loss."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


def compute(model, batch, weight=1.0):
    xb, yb = batch
    out = model(xb)
    parts = {"ce": F.cross_entropy(out, yb)}
    parts["d"] = (out - out.detach()).pow(2).sum(1).sqrt().mean()  # here
    return sum(parts.values()) * weight, parts


for step in range(3):
    opt.zero_grad()
    loss, parts = compute(net, (x, y))
    loss.backward()
    opt.step()
