"""A list of outputs that a decorated function goes through, and backward from."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

count = []


def counted(function):
    def inner(*args, **kwargs):
        count.append(function.__name__)
        return function(*args, **kwargs)

    return inner


@counted
def learn(outputs):
    loss = 0
    for each in outputs:
        loss = loss + each.pow(2).sum(1).sqrt().mean()  # here
    loss.backward()


nets = [nn.Linear(3, 2) for _ in range(2)]
opt = torch.optim.SGD([p for net in nets for p in net.parameters()], lr=0.1)
for step in range(3):
    x = torch.randn(8, 3)
    outputs = [net(x) for net in nets]
    if step == 1:
        outputs[1] = outputs[1] - outputs[1]
    opt.zero_grad()
    learn(outputs)
    opt.step()
