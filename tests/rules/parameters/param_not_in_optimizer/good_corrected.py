"""Stochastic gradients are corrected by those of a copy of a while ago, which is never stepped."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x[:, :1] - x[:, 1:2] > 0).float()
loss_of = nn.BCEWithLogitsLoss()
model = nn.Linear(6, 1)
nn.init.normal_(model.weight, std=0.01)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for outer in range(4):
    snapshot = copy.deepcopy(model)
    loss_of(snapshot(x), y).backward()
    whole = [p.grad.clone() for p in snapshot.parameters()]
    for inner in range(30):
        rows = torch.randint(0, 256, (16,))
        snapshot.zero_grad()
        loss_of(snapshot(x[rows]), y[rows]).backward()
        optimizer.zero_grad()
        loss_of(model(x[rows]), y[rows]).backward()
        with torch.no_grad():
            for p, q, mean in zip(model.parameters(), snapshot.parameters(), whole, strict=True):
                p.grad.add_(mean - q.grad)
        optimizer.step()
