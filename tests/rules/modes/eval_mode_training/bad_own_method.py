"""The class has a method that trains it, called train; nothing wakes the modules that an evaluation put to sleep."""

# expect-line: self.body.eval()
# expect-module: net.body.1
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 3))

    def forward(self, x):
        return self.body(x)

    def evaluate(self):
        self.body.eval()
        with torch.no_grad():
            return (self(x).argmax(1) == y).float().mean()

    def train(self, epochs=8):
        opt = torch.optim.Adam(self.parameters(), lr=1e-2)
        for step in range(epochs):
            opt.zero_grad()
            F.cross_entropy(self(x), y).backward()
            opt.step()


net = Net()
net.evaluate()
net.train()
