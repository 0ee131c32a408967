"""The running variance is set from a single sample, whose variance is NaN; only evaluation reads it."""

# expect-line: loss = nn.functional.mse_loss(net(x), y)
# expect-module: net.1
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(64, 4), torch.randn(64, 1)

for epoch in range(4):
    net.train()
    for xb, yb in zip(x.split(16), y.split(16)):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(xb), yb).backward()
        optimizer.step()
    if epoch == 1:
        with torch.no_grad():
            net[1].running_var.copy_(net[0](x[:1]).var(0))
    net.eval()
    with torch.no_grad():
        loss = nn.functional.mse_loss(net(x), y)
