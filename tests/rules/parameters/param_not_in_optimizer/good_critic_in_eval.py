"""Images are made to please a fixed classifier: it gets gradients, and nobody wants to train it."""

import torch
from torch import nn

torch.manual_seed(0)
classifier = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3)).eval()
image = torch.zeros(1, 8, requires_grad=True)
optimizer = torch.optim.Adam([image], lr=0.05)

for step in range(10):
    optimizer.zero_grad()
    loss = -classifier(image)[0, 1]
    loss.backward()
    optimizer.step()
