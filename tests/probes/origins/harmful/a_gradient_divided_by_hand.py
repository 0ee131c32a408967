"""A gradient that is divided by its own norm, by hand, when it is zero."""

# expect-direction: backward
# expect-cause: gradients changed after the backward
# expect-parameter: net.2.bias

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randn(16, 3)
for step in range(3):
    opt.zero_grad()
    out = net(x)
    loss = (out - (out.detach() if step == 2 else y)).pow(2).mean()
    loss.backward()
    total = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
    for p in net.parameters():
        p.grad.div_(total)  # here
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
