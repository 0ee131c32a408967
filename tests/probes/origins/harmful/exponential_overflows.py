"""Exponential overflows."""

# expect-direction: forward
# expect-op: exp
# expect-cause: exponential overflows

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    logits = 100 * (net(x).abs() + 1)
    e = torch.exp(logits)  # here
    p = e / e.sum(1, keepdim=True)
    loss = -p[:, 0].clamp_min(1e-9).log().mean()
    loss.backward()
    opt.step()
