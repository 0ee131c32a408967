"""One tanh is used after two layers, and only what the second gives it is too large."""

# expect-module: net.act
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = nn.Linear(8, 64), nn.Linear(64, 64), nn.Linear(64, 3)
        self.act = nn.Tanh()
        nn.init.normal_(self.second.weight, std=5.0)

    def forward(self, x):
        return self.head(self.act(self.second(self.act(self.first(x)))))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
