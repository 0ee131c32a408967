"""What guides another part was trained in an earlier cell: its gradients are not wanted."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
guide = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
guide_opt = torch.optim.Adam(guide.parameters(), lr=0.01)
# --- cell ---
for step in range(40):
    guide_opt.zero_grad()
    net.zero_grad()
    F.cross_entropy(net(guide(torch.randn(32, 4))), torch.ones(32, dtype=torch.long)).backward()
    guide_opt.step()
