"""A function mapped over a batch by torch.vmap, and a criterion made where it is called."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of a negative number

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.randn(8, 1)
for step in range(3):
    opt.zero_grad()
    out = torch.vmap(lambda row: torch.log(net(row) - 9))(x)  # here
    loss = nn.MSELoss()(out, y)
    loss.backward()
    opt.step()
