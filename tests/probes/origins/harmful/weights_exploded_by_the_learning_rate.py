"""Weights exploded by the learning rate."""

# expect-direction: forward
# expect-op: pow | addmm | mean | mm | sub | sum
# expect-cause: weights exploded

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(64, 4), torch.randn(64, 1)
for step in range(40):
    if step == 10:
        opt.param_groups[0]["lr"] = 30.0
    opt.zero_grad()
    loss = (net(x) - y).pow(2).mean()  # here
    loss.backward()
    opt.step()
