"""A function of numpy stands in the middle of the model."""

# expect-module: net.embed
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Linear(8, 4), nn.Linear(4, 3)

    def forward(self, x):
        h = self.embed(x)
        h = torch.tensor(np.tanh(h.detach().numpy()))
        return self.head(h)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
