"""Raw scores with logits, and a sigmoid with the plain loss; a sigmoid for the accuracy."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randint(0, 2, (64, 1)).float()
net = nn.Sequential(nn.Linear(8, 16), nn.Sigmoid(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    optimizer.zero_grad()
    scores = net(x)
    loss = F.binary_cross_entropy_with_logits(scores, y) + F.binary_cross_entropy(scores.sigmoid(), y)
    loss.backward()
    optimizer.step()
    accuracy = ((torch.sigmoid(scores) > 0.5) == (y > 0.5)).float().mean()
