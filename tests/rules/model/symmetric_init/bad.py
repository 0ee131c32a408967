"""Every parameter begins with the same number."""

# expect-line: nn.init.constant_(parameter, 0.1)
# expect-module: net.0
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 3))
for parameter in net.parameters():
    nn.init.constant_(parameter, 0.1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
