"""All the data at once: as one tensor, made anew, by a loader of one batch, and as most of a larger tensor."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(200, 4, dtype=torch.float64), torch.randn(200, 1)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
loader = DataLoader(TensorDataset(x.float(), y), batch_size=200)


def step(inputs, targets):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(inputs), targets).backward()
    optimizer.step()


whole = x.float()
for epoch in range(15):
    step(whole, y)
for epoch in range(15):
    step(x.float(), y)
for epoch in range(15):
    for xb, yb in loader:
        step(xb, yb)
for epoch in range(15):
    step(x[:160].float(), y[:160])
