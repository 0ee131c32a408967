"""The optimizer has walked the iterator of parameters; clipping finds none left."""

# expect-line: nn.utils.clip_grad_norm_(trained, 0.1)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
trained = filter(lambda p: p.requires_grad, net.parameters())
opt = torch.optim.SGD(trained, lr=0.1)
for step in range(12):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    nn.utils.clip_grad_norm_(trained, 0.1)
    opt.step()
