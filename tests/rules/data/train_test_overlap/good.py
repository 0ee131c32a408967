"""A true split, the score on the training tensors, and the same batch once more without gradients."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
x, y = torch.randn(400, 8), torch.randint(0, 2, (400,))
train_set, test_set = random_split(TensorDataset(x, y), [300, 100])
loader, test_loader = DataLoader(train_set, batch_size=25, shuffle=True), DataLoader(test_set, batch_size=50)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(xb), yb).backward()
        optimizer.step()
        with torch.no_grad():
            right = (net(xb).argmax(1) == yb).sum()
    net.eval()
    with torch.no_grad():
        right = sum((net(xb).argmax(1) == yb).sum() for xb, yb in test_loader)
        trained = (net(x).argmax(1) == y).float().mean()
    net.train()
