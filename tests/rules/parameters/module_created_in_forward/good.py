"""Modules without weights are made in the forward."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        return nn.Softmax(dim=1)(self.b(nn.Dropout(0.1)(nn.ReLU()(self.a(x))))).log()


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(20):
    opt.zero_grad()
    nn.NLLLoss()(net(x), y).backward()
    opt.step()
