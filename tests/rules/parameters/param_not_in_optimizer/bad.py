"""The head is replaced for the new task after the optimizer was built."""

# expect-line: net.fc = nn.Linear(16, 3)
# expect-module: net.fc
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        return self.fc(self.body(x))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
net.fc = nn.Linear(16, 3)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

for step in range(8):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
