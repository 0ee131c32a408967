"""Connectionist temporal classification with log-probabilities, time first."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(6, 5)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(6):
    x = torch.randn(12, 4, 6)
    optimizer.zero_grad()
    logp = net(x).log_softmax(2)
    target, lengths, sizes = torch.randint(1, 5, (4, 3)), torch.full((4,), 12), torch.full((4,), 3)
    loss = F.ctc_loss(logp, target, lengths, sizes)
    loss.backward()
    optimizer.step()
