"""A gradient inside the forward."""

# expect-direction: forward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

from torch.func import functional_call, grad

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def inner(params, x, t):
    return ((functional_call(net, params, (x,)) - t).pow(2).sum()).sqrt()  # here


for i in range(3):
    x = torch.randn(5, 3)
    p = dict(net.named_parameters())
    t = functional_call(net, p, (x,)).detach() if i == 1 else torch.randn(5, 1)
    g = grad(inner)(p, x, t)
    fast = {k: v - 0.1 * g[k] for k, v in p.items()}
    loss = (functional_call(net, fast, (x,)) - t).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
