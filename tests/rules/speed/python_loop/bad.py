"""A recurrent network whose steps in time are taken in Python."""

# profile: steps=8
# expect-line: h = torch.tanh(self.a(x[:, t]) + self.b(h))
# expect-module: net
import torch
from torch import nn


class Slow(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 8)
        for t in range(x.shape[1]):
            h = torch.tanh(self.a(x[:, t]) + self.b(h))
        return self.c(h)


torch.manual_seed(0)
net = Slow()
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
for step in range(12):
    x = torch.randn(16, 100, 4)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x[:, -1, :1]).backward()
    optimizer.step()
