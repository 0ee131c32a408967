"""All terms of a loss are made numbers before they are added up."""

# expect-line: parts = list(map(float, terms.values()))
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))
net = nn.Linear(8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def combine(parts):
    return torch.tensor(sum(parts), requires_grad=True)


for i in range(8):
    opt.zero_grad()
    out = net(x)
    terms = {"fit": F.cross_entropy(out, y), "size": out.pow(2).mean()}
    parts = list(map(float, terms.values()))
    loss = combine(parts)
    loss.backward()
    opt.step()
