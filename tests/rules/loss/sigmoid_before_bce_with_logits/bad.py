"""The model ends in a sigmoid, and the loss takes another."""

# expect-line: loss = criterion(net(xb), yb)
# expect-module: net.3
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(256, 8), torch.randint(0, 2, (256, 1)).float()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.BCEWithLogitsLoss()

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    loss = criterion(net(xb), yb)
    loss.backward()
    optimizer.step()
