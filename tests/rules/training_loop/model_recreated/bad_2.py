"""A class is built, by a function that trains for one epoch, on slices of a tensor."""

# expect-line: model = Net(16)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Linear(8, width)
        self.out = nn.Linear(width, 2)

    def forward(self, inputs):
        return self.out(self.hidden(inputs).relu())


def run_epoch(lr):
    model = Net(16)
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    total = 0.0
    for i in range(0, 192, 32):
        opt.zero_grad()
        loss = F.cross_entropy(model(x[i : i + 32]), y[i : i + 32])
        loss.backward()
        opt.step()
        total += loss.item()
    return total / 6


for epoch in range(6):
    print(epoch, run_epoch(0.05))
