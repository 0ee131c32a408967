"""An earlier cell failed in a function with large tensors, which its traceback has kept since."""

import sys

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)


def evaluate():
    activations = torch.zeros(1 << 23)
    return activations.view(3)


try:
    evaluate()
except RuntimeError as error:
    sys.last_exc, sys.last_value, sys.last_traceback = error, error, error.__traceback__
net = nn.Linear(8, 1)
# --- cell ---
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
