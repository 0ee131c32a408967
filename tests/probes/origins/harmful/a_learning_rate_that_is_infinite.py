"""A learning rate that is infinite."""

# expect-direction: update
# expect-op: add_ | _foreach_add_ | mul
# expect-cause: a constant is not finite
# expect-parameter: net.0.weight

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

for step in range(4):
    if step == 2:
        opt.param_groups[0]["lr"] = float("inf")
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()  # here
