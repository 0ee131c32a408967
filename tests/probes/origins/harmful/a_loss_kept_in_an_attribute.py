"""A loss kept in an attribute."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of a negative number

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


class Trainer:
    def __init__(self, model):
        self.model, self.opt = model, torch.optim.SGD(model.parameters(), lr=0.1)

    def step(self, xb, yb):
        self.opt.zero_grad()
        self.out = self.model(xb)
        self.loss = torch.log(self.out - 9).mean()  # here
        self.loss.backward()
        self.opt.step()


t = Trainer(net)
for step in range(3):
    t.step(x, y)
