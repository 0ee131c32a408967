"""Each run of the cell registers the same hook once more."""
# runs: 3
# expect-line: net[0].register_forward_hook(keep)
# expect-module: net.0

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)

net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
# --- cell ---
kept = []


def keep(module, inputs, output):
    kept.append(output.detach().mean().item())


net[0].register_forward_hook(keep)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
