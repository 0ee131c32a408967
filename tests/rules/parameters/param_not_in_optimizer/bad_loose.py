"""A gate that is no part of a model was left out of the optimizer."""

# expect-module: gate
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(16, 4)
gate = nn.Parameter(torch.ones(16))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(64, 16), torch.randint(4, (64,))

for step in range(8):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x * gate.sigmoid()), y)
    loss.backward()
    optimizer.step()
