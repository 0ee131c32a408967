"""A batch whose targets are all of the class that has no weight."""

# expect-direction: forward
# expect-op: nll_loss_forward
# expect-cause: zero over zero

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, weight = torch.randn(6, 4), torch.tensor([0.0, 1.0, 1.0])
for step in range(3):
    y = torch.zeros(6, dtype=torch.long) if step == 2 else torch.randint(1, 3, (6,))
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y, weight=weight)  # here
    loss.backward()
    opt.step()
