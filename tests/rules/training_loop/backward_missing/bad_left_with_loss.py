"""Each iteration computes a loss, and none goes backward; there are gradients of an earlier cell."""

# expect-line: optimizer.step()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
F.cross_entropy(net(x), y).backward()
# --- cell ---
for step in range(12):
    loss = F.cross_entropy(net(x), y)
    optimizer.step()
