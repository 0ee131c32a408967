"""Models drawn from a list in an expression."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

heads = nn.ModuleList(nn.Sequential(nn.Linear(4, 2), nn.Softmax(-1)) for _ in range(3))
opt = torch.optim.SGD(heads.parameters(), lr=0.1)
for i in range(4):
    x = torch.randn(8, 4)
    ys = torch.randint(0, 2, (3, 8))
    if i == 2:
        x = x * 1e5
    loss = sum(F.nll_loss(torch.log(h(x)), y) for h, y in zip(heads, ys))  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
