"""After each round of pruning a smaller model is trained, by an optimizer of its own."""

import torch
import torch.nn.utils.prune
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, 0] - x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
parts = [(net[0], "weight"), (net[2], "weight")]
for _ in range(3):
    nn.utils.prune.global_unstructured(parts, pruning_method=nn.utils.prune.L1Unstructured, amount=0.3)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for batch in torch.randperm(600).split(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
