"""The head is given to an optimizer of its own, and with the whole model to another."""

# expect-line: head_opt.step()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
head_opt = torch.optim.SGD(net[2].parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
    head_opt.step()
