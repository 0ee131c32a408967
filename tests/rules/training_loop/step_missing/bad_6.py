"""Nothing resets and nothing steps: gradients pile up for long."""

# expect-line: F.cross_entropy(net(x[i : i + 32]), y[i : i + 32]).backward()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
# --- cell ---
for epoch in range(12):
    for i in range(0, 192, 32):
        F.cross_entropy(net(x[i : i + 32]), y[i : i + 32]).backward()
