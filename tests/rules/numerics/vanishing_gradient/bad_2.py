"""A class whose forward loops over layers, each with a sigmoid as a function."""

# expect-module: net.start
import torch
from torch import nn

torch.manual_seed(0)


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Linear(8, 24)
        self.hidden = nn.ModuleList(nn.Linear(24, 24) for _ in range(13))
        self.head = nn.Linear(24, 1)

    def forward(self, x):
        x = torch.sigmoid(self.start(x))
        for layer in self.hidden:
            x = x.sigmoid() if layer is None else torch.sigmoid(layer(x))
        return self.head(x)


net = Deep()
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
x = torch.randn(512, 8)
y = x.sum(1, keepdim=True).tanh()

for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
