"""More than half of the units are silent, and the classifier of the second phase learns by the others."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x[:, :2].sum(1) > 0).long()
encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
with torch.no_grad():
    encoder[0].bias[:20] = -1000.0
decoder, head = nn.Linear(32, 8), nn.Linear(32, 2)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
for step in range(60):
    rows = torch.randint(0, 512, (64,))
    optimizer.zero_grad()
    F.mse_loss(decoder(encoder(x[rows])) / 10, x[rows] / 10).backward()
    optimizer.step()

net = nn.Sequential(encoder, head)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    rows = torch.randint(0, 512, (64,))
    optimizer.zero_grad()
    F.cross_entropy(net(x[rows]), y[rows]).backward()
    optimizer.step()
