"""A sigmoid in the model and one in the loop, and the plain binary cross-entropy."""

# expect-line: loss = F.binary_cross_entropy(probabilities, y)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 3), nn.Sigmoid())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    x, y = torch.randn(32, 8), torch.randint(0, 2, (32, 3)).float()
    optimizer.zero_grad()
    probabilities = torch.sigmoid(net(x))
    loss = F.binary_cross_entropy(probabilities, y)
    loss.backward()
    optimizer.step()
