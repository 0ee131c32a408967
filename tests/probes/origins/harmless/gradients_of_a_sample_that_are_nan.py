"""An attack on samples of which one is a NaN, by a network that learned before."""

net = nn.Linear(4, 3)
x = torch.randn(8, 4)
x[3, 2] = float("nan")
a = x.clone().requires_grad_()
for _ in range(5):
    (g,) = torch.autograd.grad(net(a).logsumexp(1).nanmean(), a)
    a = (a + 0.01 * g.sign()).detach().requires_grad_()
