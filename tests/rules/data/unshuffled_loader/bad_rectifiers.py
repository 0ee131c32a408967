"""Samples sorted by class drive the units of a rectifier to zero: the order comes first, what follows from it later."""

# expect-line: loader = DataLoader(TensorDataset(x, y), batch_size=32)
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
pixels, classes = load_digits(return_X_y=True)
order = torch.argsort(torch.tensor(classes), stable=True)[:1500]
x, y = torch.tensor(pixels / 16).float()[order].view(-1, 1, 8, 8), torch.tensor(classes)[order]
loader = DataLoader(TensorDataset(x, y), batch_size=32)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(3):
    for rows, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(rows), labels)
        loss.backward()
        optimizer.step()
