"""The average of the weights is evaluated as the model itself is, but was never put into evaluation mode."""

# expect-line: return sum(F.cross_entropy(model(xb), yb).item() for xb, yb in test) / len(test)
import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(192, 10)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:128], y[:128]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[128:], y[128:]), batch_size=16)
net = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))
average = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


@torch.no_grad()
def evaluate(model):
    return sum(F.cross_entropy(model(xb), yb).item() for xb, yb in test) / len(test)


for epoch in range(3):
    net.train()
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(net(xb), yb).backward()
        optimizer.step()
        with torch.no_grad():
            for mine, its in zip(average.parameters(), net.parameters()):
                mine.lerp_(its, 0.1)
            for mine, its in zip(average.buffers(), net.buffers()):
                mine.copy_(its)
    net.eval()
    print(epoch, evaluate(net), evaluate(average))
