"""The terms of a loss are made numbers for a history only."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))
net = nn.Linear(8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def number(value):
    return float(value)


def numbers(terms):
    return {name: number(value) for name, value in terms.items()}


def combine(terms):
    return sum(value for value in terms.values())


history = []


for i in range(8):
    opt.zero_grad()
    out = net(x)
    terms = {"fit": F.cross_entropy(out, y), "size": out.pow(2).mean()}
    loss = combine(terms)
    history.append(numbers(terms))
    loss.backward()
    opt.step()
