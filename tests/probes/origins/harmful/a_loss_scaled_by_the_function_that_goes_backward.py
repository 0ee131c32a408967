"""A loss that is handed to a function which divides it and goes backward."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def accumulate(loss, times):
    (loss / times).backward()


for step in range(3):
    chances = net(torch.randn(16, 4)).softmax(1)
    loss = torch.log(chances * (step != 1)).mean()  # here
    accumulate(loss, 2)
    opt.step()
    opt.zero_grad()
