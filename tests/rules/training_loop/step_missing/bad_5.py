"""The optimizer of an earlier cell is never touched: batch after batch, gradients are reset and made."""

# expect-line: loss.backward()
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
# --- cell ---
for epoch in range(4):
    for i in range(0, 192, 32):
        for p in net.parameters():
            p.grad = None
        loss = F.cross_entropy(net(x[i : i + 32]), y[i : i + 32])
        loss.backward()
