"""A compiled model."""

# expect-direction: forward
# expect-op: log
# expect-cause: log of a negative number

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return torch.log(self.linear(x) - 9)  # here


net = Net()
fast = torch.compile(net, backend="eager")
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    opt.zero_grad()
    loss = fast(x).mean()
    loss.backward()
    opt.step()
