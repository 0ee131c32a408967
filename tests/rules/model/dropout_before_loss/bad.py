"""The last layer of a classifier is a dropout."""

# expect-line: loss = F.cross_entropy(net(x[part]), y[part])
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3), nn.Dropout(0.3))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(5):
    for part in torch.randperm(256).split(32):
        loss = F.cross_entropy(net(x[part]), y[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
