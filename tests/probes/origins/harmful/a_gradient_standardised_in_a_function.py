"""Gradients that a function standardises, one of which has a single value."""

# expect-direction: backward
# expect-cause: gradients changed after the backward

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(16, 4), torch.randn(16, 1)


def standardise(parameters):
    for p in parameters:
        g = p.grad
        g -= g.mean()
        g /= g.std()  # here


for step in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    standardise(net.parameters())
    opt.step()
