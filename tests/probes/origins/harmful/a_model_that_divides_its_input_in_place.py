"""A model that divides its input in place."""

# expect-direction: forward
# expect-op: div_
# expect-cause: division by zero
# expect-module: net


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        x.div_(x.abs().max() * 0)  # here
        return self.linear(x)


net = Scale()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    opt.zero_grad()
    loss = net(torch.randn(16, 4)).sum()
    loss.backward()
    opt.step()
