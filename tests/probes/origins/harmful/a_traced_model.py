"""A traced model."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

import torch as T


def nll(p, y):
    return -T.log(p.gather(1, y.unsqueeze(1))).mean()  # here


net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(1))
opt = T.optim.SGD(net.parameters(), lr=0.01)
traced = T.jit.trace(net, T.randn(2, 4))
for i in range(3):
    x, y = T.randn(8, 4) * (1 if i < 2 else 1e5), T.randint(0, 3, (8,))
    opt.zero_grad()
    nll(traced(x), y).backward()
    opt.step()
