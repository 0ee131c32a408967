"""What a tanh is given is multiplied by hundreds."""

# expect-line: hidden = torch.tanh(300 * self.first(x))
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 32), nn.Linear(32, 3)

    def forward(self, x):
        hidden = torch.tanh(300 * self.first(x))
        return self.second(hidden)


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
