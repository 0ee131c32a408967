"""A recurrent net with clipping, whose norms stay in proportion."""

import torch
from torch import nn

torch.manual_seed(0)
rnn, head = nn.GRU(4, 16, batch_first=True), nn.Linear(16, 1)
parameters = [*rnn.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-2)
x, y = torch.randn(32, 20, 4), torch.randn(32, 1)

for step in range(12):
    optimizer.zero_grad()
    states, _ = rnn(x)
    loss = nn.functional.mse_loss(head(states[:, -1]), y)
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
