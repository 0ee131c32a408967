"""A loss by hand, around zero, with a penalty beside it."""

# expect-line: error = (predicted - yb).abs().mean()
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(400, 5)
loader = DataLoader(TensorDataset(x, 3000 * x[:, 0]), batch_size=40, shuffle=True)
net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for epoch in range(3):
    for xb, yb in loader:
        predicted = net(xb).squeeze(1)
        error = (predicted - yb).abs().mean()
        loss = error + 1e-3 * sum(p.square().sum() for p in net.parameters())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
