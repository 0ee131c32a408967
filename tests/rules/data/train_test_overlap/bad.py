"""The rows are copied before the split."""

# expect-line: test_loader = DataLoader(TensorDataset(x[test], y[test]), batch_size=64)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(200, 8), torch.randint(0, 2, (200,))
x, y = x.repeat(4, 1), y.repeat(4)
order = torch.randperm(800)
train, test = order[:600], order[600:]
train_loader = DataLoader(TensorDataset(x[train], y[train]), batch_size=50, shuffle=True)
test_loader = DataLoader(TensorDataset(x[test], y[test]), batch_size=64)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(3):
    net.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(xb), yb).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = sum((net(xb).argmax(1) == yb).sum() for xb, yb in test_loader)
