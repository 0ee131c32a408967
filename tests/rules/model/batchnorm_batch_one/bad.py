"""Images come one at a time through a batch norm."""

# expect-line: train_loader = DataLoader(TensorDataset(x, y), batch_size=1, shuffle=True)
# expect-module: net.1
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(64, 1, 8, 8), torch.randint(0, 3, (64,))
train_loader = DataLoader(TensorDataset(x, y), batch_size=1, shuffle=True)

for xb, yb in train_loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
