"""Parameters that are no part of a model: one has an optimizer, one is stepped by hand, one is only looked at."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(16, 4)
gate, bias, scale = (nn.Parameter(torch.ones(16)) for _ in range(3))
optimizer = torch.optim.Adam([*net.parameters(), gate], lr=1e-2)
x, y = torch.randn(64, 16), torch.randint(4, (64,))
sensitivities = []

for step in range(8):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net((x * gate + bias) * scale), y)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        bias -= 0.01 * bias.grad
        sensitivities.append(scale.grad.clone())
        bias.grad = scale.grad = None
