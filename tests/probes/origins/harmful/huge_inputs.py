"""Huge inputs."""

# expect-direction: forward
# expect-op: pow
# expect-cause: power out of range

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4) * 1e25, torch.randn(16, 1)
for step in range(3):
    opt.zero_grad()
    loss = ((net(x) - y) ** 2).mean()  # here
    loss.backward()
    opt.step()
