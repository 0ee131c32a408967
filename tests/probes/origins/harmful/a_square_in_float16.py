"""A square in float16."""

# expect-direction: forward
# expect-op: pow
# expect-cause: float16 overflows

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).half()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(3):
    x, t = torch.randn(8, 4).half(), (torch.rand(8, 1) * 900).half()
    loss = (net(x) - t).pow(2).mean()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
