"""torch.dropout with train=True, in a part of the model."""

# expect-line: return torch.dropout(self.fc(x).relu(), 0.3, True)
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(160, 8)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:128], y[:128]), 32, shuffle=True)
valid = DataLoader(TensorDataset(x[128:], y[128:]), 16)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return torch.dropout(self.fc(x).relu(), 0.3, True)


net = nn.Sequential(Block(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(2):
    net.train()
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(net(xb), yb).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        hits = sum((net(xb).argmax(1) == yb).sum().item() for xb, yb in valid)
