"""Raw scores go into cross_entropy; a softmax is taken only to show the probabilities."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(256, 8), torch.randint(0, 5, (256,))
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()

for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    scores = net(xb)
    confidence = scores.softmax(dim=1).max(dim=1).values.mean().item()
    loss = criterion(scores, yb)
    loss.backward()
    optimizer.step()
