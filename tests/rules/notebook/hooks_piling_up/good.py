"""A loop registers one hook per layer and name, and takes all of them away again."""
# runs: 2

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)

net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
# --- cell ---
kept = {}


def keep(name):
    def hook(module, inputs, output):
        kept[name] = output.detach().mean().item()

    return hook


handles = [
    layer.register_forward_hook(keep(f"{i}.{part}")) for i, layer in enumerate(net) for part in ("mean", "again")
]
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
for handle in handles:
    handle.remove()
