"""The loss is turned into a number before backward is called on it."""

# expect-line: loss = F.cross_entropy(net(x), y).item()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Linear(8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(5):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y).item()
    loss.backward()
    opt.step()
