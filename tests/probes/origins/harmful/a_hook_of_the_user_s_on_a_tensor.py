"""A hook of the user's on a tensor."""

# expect-direction: backward
# expect-op: mul
# expect-cause: backward of a custom function

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

for step in range(3):
    opt.zero_grad()
    out = net(x)
    out.register_hook(lambda gradient: gradient * float("inf"))  # here
    loss = out.pow(2).mean()
    loss.backward()
    opt.step()
