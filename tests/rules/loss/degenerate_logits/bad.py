"""One output, and a loss over classes."""

# expect-line: loss = F.cross_entropy(net(xb), yb)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(128, 8), torch.zeros(128, dtype=torch.long)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(xb), yb)
    loss.backward()
    optimizer.step()
