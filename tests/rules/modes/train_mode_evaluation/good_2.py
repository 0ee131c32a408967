"""Labels for unlabelled data are made at every step, without gradients, in training mode."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(12):
    x, y, unlabelled = torch.randn(32, 8), torch.randint(0, 3, (32,)), torch.randn(64, 8)
    with torch.no_grad():
        guess = net(unlabelled + 0.1 * torch.randn(64, 8)).softmax(1)
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y) + F.cross_entropy(net(unlabelled), guess)
    loss.backward()
    optimizer.step()
