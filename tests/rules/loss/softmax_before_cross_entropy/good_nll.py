"""log_softmax in the model goes with nll_loss."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(128, 8), torch.randint(0, 5, (128,))
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5), nn.LogSoftmax(dim=1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for step in range(10):
    optimizer.zero_grad()
    F.nll_loss(net(x), y).backward()
    optimizer.step()
