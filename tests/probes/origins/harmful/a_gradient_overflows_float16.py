"""A gradient overflows float16."""

# expect-direction: backward
# expect-op: ToCopyBackward0
# expect-cause: float16 overflows

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(16, 4) * 1000
for step in range(3):
    opt.zero_grad()
    h = net(x).half() / 1000
    loss = (h.float() * 1e6).sum()  # here
    loss.backward()
    opt.step()
