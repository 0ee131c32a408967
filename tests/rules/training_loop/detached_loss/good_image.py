"""An image is trained through a fixed network."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)

net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)).requires_grad_(False).eval()
image = torch.zeros(1, 8, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.1)
for i in range(12):
    opt.zero_grad()
    F.cross_entropy(net(image), torch.tensor([1])).backward()
    opt.step()
