"""Activation checkpointing."""

# expect-direction: backward
# expect-op: SqrtBackward0
# expect-cause: slope of the square root at zero

from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 1)

    def block(self, x):
        h = self.a(x).pow(2)
        return h.sub(h.detach()).pow(2).sqrt()  # here

    def forward(self, x):
        return self.b(checkpoint(self.block, x, use_reentrant=False))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
