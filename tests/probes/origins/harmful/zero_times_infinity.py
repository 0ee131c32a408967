"""Zero times infinity."""

# expect-direction: forward
# expect-op: mul
# expect-cause: zero times infinity

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
allow = torch.tensor([True, True, False])
for i in range(3):
    x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
    lp = F.log_softmax(net(x).masked_fill(~allow, -torch.inf), 1)
    loss = -(F.one_hot(y, 3) * lp).sum(1).mean()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
