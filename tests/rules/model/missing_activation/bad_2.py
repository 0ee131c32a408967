"""The forward forgets the activation between two convolutions."""

# expect-module: net.two
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.head = nn.Conv1d(1, 8, 3), nn.Conv1d(8, 16, 3), nn.Linear(64, 3)

    def forward(self, x):
        x = self.one(x.unsqueeze(1))
        x = self.two(x)
        return self.head(x.relu().flatten(1))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
