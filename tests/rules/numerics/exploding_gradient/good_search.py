"""Learning rates are tried, one of which is far too high; the one that is kept is sound."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(200, 8)
y = x @ torch.randn(8, 1)


def fit(lr, steps):
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        rows = torch.randint(0, 200, (32,))
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


scores = {lr: fit(lr, 12) for lr in (1e-3, 1e-2, 5e-2, 2.0)}
final = fit(min(scores, key=scores.get), 60)
