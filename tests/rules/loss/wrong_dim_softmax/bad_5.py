"""A sequence: normalised over time, then flattened for the loss."""

# expect-line: logp = net(x).log_softmax(dim=1)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 5))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(6):
    x, y = torch.randn(8, 9, 6), torch.randint(0, 5, (8, 9))
    optimizer.zero_grad()
    logp = net(x).log_softmax(dim=1)
    loss = F.nll_loss(logp.reshape(-1, 5), y.reshape(-1))
    loss.backward()
    optimizer.step()
