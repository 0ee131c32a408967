"""A target that is not finite."""

# expect-direction: input
# expect-cause: data are not finite

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
t = torch.randn(16)
t[7] = float("nan")
for step in range(3):
    opt.zero_grad()
    out = net(x).sum(1)
    loss = F.mse_loss(out, t)  # here
    loss.backward()
    opt.step()
