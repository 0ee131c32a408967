"""The function is told, an attention module tells itself, and dropout modules are set to training on purpose."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(160, 8)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:128], y[:128]), 32, shuffle=True)
valid = DataLoader(TensorDataset(x[128:], y[128:]), 16)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, dropout=0.2, batch_first=True)
        self.drop, self.out = nn.Dropout(0.2), nn.Linear(8, 2)

    def forward(self, x):
        h, _ = self.attention(x[:, None], x[:, None], x[:, None])
        return self.out(self.drop(F.dropout(h[:, 0], 0.2, training=self.training)))


net = Net()
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
net.drop.train()
with torch.no_grad():
    samples = torch.stack([net(x[128:]) for _ in range(5)])
