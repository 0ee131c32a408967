"""Four batches are added up, and none is divided by four."""

# expect-line: loss.backward()
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()

for epoch in range(2):
    for i, (xb, yb) in enumerate(loader):
        loss = criterion(net(xb), yb)
        loss.backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
