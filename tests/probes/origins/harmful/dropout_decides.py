"""Dropout decides."""

# expect-direction: forward
# expect-op: div
# expect-cause: division by zero
# expect-module: net


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        kept = F.dropout(torch.ones(3), 0.5)
        return self.linear(x) / kept.sum()  # here


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for step in range(60):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
