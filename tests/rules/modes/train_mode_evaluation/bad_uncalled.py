"""The validation names eval and does not call it."""

# expect-line: net.eval
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(160, 8)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:128], y[:128]), 32, shuffle=True)
valid = DataLoader(TensorDataset(x[128:], y[128:]), 16)
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    net.train()
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(net(xb), yb).backward()
        optimizer.step()
    net.eval
    with torch.no_grad():
        hits = sum((net(xb).argmax(1) == yb).sum().item() for xb, yb in valid)
