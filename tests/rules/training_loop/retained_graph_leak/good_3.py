"""Truncated backpropagation: the state is detached between the pieces."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
rnn, head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-3)
sequence = torch.randn(8, 160, 4)
hidden = None

for piece in sequence.split(8, dim=1):
    out, hidden = rnn(piece, hidden)
    loss = F.mse_loss(head(out), piece[..., :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    hidden = hidden.detach()
