"""A function of another name, imported before."""

# expect-line: h = drop(torch.relu(self.fc1(x)), p=0.4)
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.functional import dropout as drop
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(160, 8)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:128], y[:128]), 32, shuffle=True)
valid = DataLoader(TensorDataset(x[128:], y[128:]), 16)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(8, 32), nn.Linear(32, 2)

    def forward(self, x):
        h = drop(torch.relu(self.fc1(x)), p=0.4)
        return self.fc2(h)


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
