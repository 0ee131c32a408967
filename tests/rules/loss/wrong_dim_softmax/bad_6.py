"""A softmax over the batch weighs the samples against each other."""

# expect-line: weights = torch.softmax(self.score(h), dim=0)
import torch
from torch import nn

torch.manual_seed(0)


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(16, 1)

    def forward(self, h):
        weights = torch.softmax(self.score(h), dim=0)
        return (weights * h).sum(1)


net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), Pool(), nn.Linear(16, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(320, 7, 5), torch.randn(320)

for xb, yb in zip(x.split(20), y.split(20)):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(xb), yb).backward()
    optimizer.step()
