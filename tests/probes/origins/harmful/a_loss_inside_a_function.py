"""A loss inside a function."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of zero

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


def criterion(out, target):
    p = out.softmax(1).gather(1, target[:, None])
    p = p - p
    return -torch.log(p).mean()  # here


def train(model, optimizer):
    for step in range(3):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()


train(net, opt)
