"""The softmax of a single output is always one."""

# expect-module: net.3
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1), nn.Softmax(dim=1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.BCELoss()
for step in range(6):
    x, y = torch.randn(32, 8), torch.randint(0, 2, (32, 1)).float()
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
