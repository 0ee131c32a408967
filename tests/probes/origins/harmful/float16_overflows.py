"""Float16 overflows."""

# expect-direction: forward
# expect-op: mul
# expect-cause: float16 overflows

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(3):
    opt.zero_grad()
    h = net(x).half()
    big = (h + 300) * (h + 300)  # here
    loss = big.float().mean()
    loss.backward()
    opt.step()
