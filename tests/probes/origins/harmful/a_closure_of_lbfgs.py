"""A closure of LBFGS."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

net = nn.Linear(4, 1)
opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)
x, y = torch.randn(16, 4), torch.randn(16, 1)


def closure():
    opt.zero_grad()
    r = (net(x) - net(x).detach()).pow(2).sum(1)
    loss = torch.sqrt(r).mean()  # here
    loss.backward()
    return loss


for step in range(3):
    opt.step(closure)
