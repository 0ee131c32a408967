"""A second head learns from features that a hook keeps without their graph; the body learns through the first one."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))
kept = {}


def keep(module, args, output):
    kept["features"] = output.detach()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.second = nn.Linear(8, 16), nn.Linear(16, 3), nn.Linear(16, 3)
        self.body.register_forward_hook(keep)
        self.head.register_forward_pre_hook(lambda module, args: None)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x))), self.second(kept["features"])


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    first, second = net(x)
    (F.cross_entropy(first, y) + F.cross_entropy(second, y)).backward()
    opt.step()
