"""A function of the weights, differentiated by torch.func."""

# expect-direction: forward
# expect-op: exp
# expect-cause: exponential overflows

from torch.func import functional_call, grad_and_value

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
params = {k: v.detach() for k, v in net.named_parameters()}
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


def loss_fn(params, x, scale):
    raw = scale * functional_call(net, params, (x,))
    scores = raw.exp()  # here
    return -(scores / scores.sum(1, keepdim=True)).gather(1, y[:, None]).mean()


step_fn = grad_and_value(loss_fn)
for step in range(4):
    gradients, loss = step_fn(params, x, 1.0 if step < 2 else 1000.0)
    params = {k: v - 0.1 * gradients[k] for k, v in params.items()}
