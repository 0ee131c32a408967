"""Time and batch change places by reshape, which cuts the rows up instead."""

# expect-line: turned = x.reshape(steps, rows, features)
# expect-module: net
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 16), nn.Linear(16, 3)

    def forward(self, x):
        rows, steps, features = x.shape
        turned = x.reshape(steps, rows, features)
        hidden, _ = self.lstm(turned)
        return self.head(hidden[-1])


net = Net()
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(320, 10, 6), torch.randint(0, 3, (320,))

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
