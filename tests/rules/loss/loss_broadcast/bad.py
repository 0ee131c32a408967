"""The model gives (N, 1), the targets are (N,): every prediction is compared with every target."""

# expect-line: loss = criterion(net(xb), yb)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 4)
y = x @ torch.tensor([1.0, -2.0, 0.5, 3.0])
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.MSELoss()

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    loss = criterion(net(xb), yb)
    loss.backward()
    optimizer.step()
