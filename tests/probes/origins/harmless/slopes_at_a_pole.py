"""Slopes of functions at their poles, which nobody steps on."""

from torch.func import grad

for at in (0.0, 1e-30, -1.0):
    print(grad(torch.log)(torch.tensor(at)), grad(torch.sqrt)(torch.tensor(at)))
