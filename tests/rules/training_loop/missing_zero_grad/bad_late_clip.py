"""Gradients are never reset, and clipped after the step, which is no reset either."""

# expect-line: nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(40):
    rows = torch.randint(0, 256, (32,))
    nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
    opt.step()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
