"""Learning rates are tried, and the last training goes on with the one that is far too high."""

# expect-line: loss.backward()
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


for lr in (1e-3, 1e-2, 5e-2):
    fit(lr, 12)
fit(2.0, 12)
