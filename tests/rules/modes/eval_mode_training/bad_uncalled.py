"""Each epoch names train and does not call it."""

# expect-line: net.train
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(128, 8), torch.randint(0, 3, (128,))
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Dropout(0.2), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


for epoch in range(3):
    net.train
    for xb, yb in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(xb), yb).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        accuracy = (net(x).argmax(1) == y).float().mean()
