"""A trainer that logs."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of a negative number

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer, self.seen = model, optimizer, []

    def training_step(self, xb, yb):
        out = self.model(xb)
        loss = torch.log(out - 9).mean()  # here
        self.seen.append(float(loss.detach()))
        return loss

    def fit(self):
        for step in range(3):
            self.optimizer.zero_grad()
            loss = self.training_step(x, y)
            loss.backward()
            self.optimizer.step()


trainer = Trainer(net, opt)
trainer.fit()
assert len(trainer.seen) == 3
