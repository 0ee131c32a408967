"""The cross-entropy is written by hand, with a log-softmax of what is a softmax already."""

# expect-line: logp = F.log_softmax(net(x), dim=1)
# expect-module: net.3
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5), nn.Softmax(dim=1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

for step in range(8):
    x, y = torch.randn(32, 8), torch.randint(0, 5, (32,))
    optimizer.zero_grad()
    logp = F.log_softmax(net(x), dim=1)
    loss = -(F.one_hot(y, 5) * logp).sum(1).mean()
    loss.backward()
    optimizer.step()
