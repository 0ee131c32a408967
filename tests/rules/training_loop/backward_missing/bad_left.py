"""The loop never calls backward; its steps follow the gradients that an earlier cell left."""

# expect-line: optimizer.step()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
F.cross_entropy(net(x), y).backward()
# --- cell ---
for step in range(12):
    optimizer.step()
