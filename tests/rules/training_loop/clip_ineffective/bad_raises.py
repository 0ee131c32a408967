"""Values are clipped before the first backward: no parameter has a gradient, and torch says so in its own words."""

# expect-line: nn.utils.clip_grad_value_(net.parameters(), 0.5)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.RMSprop(net.parameters(), lr=0.01)
for step in range(12):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    nn.utils.clip_grad_value_(net.parameters(), 0.5)
    loss.backward()
    opt.step()
