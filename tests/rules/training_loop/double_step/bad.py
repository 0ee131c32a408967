"""The optimizer steps in the function and again in the loop."""

# expect-line: opt.step()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Linear(8, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def train_batch(xb, yb):
    opt.zero_grad()
    F.cross_entropy(net(xb), yb).backward()
    opt.step()


for i in range(8):
    train_batch(x, y)
    opt.step()
