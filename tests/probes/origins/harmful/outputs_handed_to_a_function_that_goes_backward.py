"""Outputs of a model, with dropout, that a method is handed which makes the loss and goes backward."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero


class Training:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 2))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def update(self, near, *, far, scale=1.0):
        squares = (near - far).pow(2).sum(1)
        loss = squares.sqrt().mean() * scale  # here
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    def run(self):
        for step in range(3):
            x = torch.randn(8, 3)
            near = self.net(x)
            far = near * 1 if step == 1 else self.net(x)
            self.update(near, far=far, scale=2.0)


Training().run()
