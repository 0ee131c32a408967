"""A helper takes each term of a loss out of its graph."""

# expect-line: return value.detach()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))
net = nn.Linear(8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def clean(value):
    return value.detach()


def combine(terms):
    return sum(clean(value) for value in terms.values()).requires_grad_()


for i in range(8):
    opt.zero_grad()
    out = net(x)
    terms = {"fit": F.cross_entropy(out, y), "size": out.pow(2).mean()}
    loss = combine(terms)
    loss.backward()
    opt.step()
