"""Raw scores go to the loss for probabilities, which raises."""

# expect-line: loss = criterion(net(x), y)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.BCELoss()
for step in range(6):
    x, y = torch.randn(64, 8), torch.randint(0, 2, (64, 1)).float()
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
