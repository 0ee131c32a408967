"""A step in a function that has ended."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


def gradients(model, xb):
    h = model(xb)
    loss = torch.sqrt(h.sub(h.detach()).pow(2)).mean()  # here
    loss.backward()


for step in range(3):
    opt.zero_grad()
    gradients(net, x)
    opt.step()
