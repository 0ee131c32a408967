"""A table in its own units."""

# expect-line: x = torch.tensor(table, dtype=torch.float32)
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
table = rng.normal([0.5, 3.0, 700.0, 1200.0], [0.1, 1.0, 200.0, 300.0], (300, 4))
x = torch.tensor(table, dtype=torch.float32)
y = torch.from_numpy((table[:, 2] > 700).astype(np.int64))
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)

for epoch in range(3):
    for i in range(0, 300, 30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[i : i + 30]), y[i : i + 30]).backward()
        optimizer.step()
