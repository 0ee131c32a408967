"""Gradients come from elsewhere and are copied into those that an earlier cell left, past torch's count of writes."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
F.cross_entropy(net(torch.randn(32, 8)), torch.randint(0, 2, (32,))).backward()


def received(parameter):
    """Return a gradient that another process has computed."""
    return 0.01 * torch.randn_like(parameter)


# --- cell ---
for step in range(12):
    for parameter in net.parameters():
        parameter.grad.data.copy_(received(parameter))
    optimizer.step()
