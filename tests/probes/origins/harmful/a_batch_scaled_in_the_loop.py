"""A batch scaled in the loop."""

# expect-direction: input
# expect-op: div
# expect-cause: zero over zero

net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(6):
    raw, y = torch.rand(16, 4), torch.randint(0, 2, (16,))
    if i == 3:
        raw[:, 2] = 1.0
    xb = (raw - raw.mean(0)) / raw.std(0)  # here
    loss = F.cross_entropy(net(xb), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
