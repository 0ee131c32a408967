"""The project's base class has a train() of its own, which eval() calls, and which leaves the parts as they are."""

# expect-line: scores = net(x[96:])
# expect-module: net.body.1
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(128, 8), torch.randint(0, 3, (128,))


class Counted(nn.Module):
    switches = 0

    def train(self, mode=True):
        self.switches += mode != self.training
        self.training = mode
        return self


class Net(Counted):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 3))

    def forward(self, x):
        return self.body(x)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    net.train()
    opt.zero_grad()
    F.cross_entropy(net(x[:96]), y[:96]).backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        scores = net(x[96:])
    right = (scores.argmax(1) == y[96:]).float().mean()
