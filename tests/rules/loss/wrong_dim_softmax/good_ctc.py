"""Time, batch, classes: the probabilities for CTC are normalised over the classes."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 7))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
frames, targets = torch.randn(12, 20, 6), torch.randint(1, 7, (12, 4))
for step in range(10):
    scores = net(frames).transpose(0, 1)
    log_probs = F.log_softmax(scores, dim=2)
    loss = F.ctc_loss(log_probs, targets, torch.full((12,), 20), torch.full((12,), 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
