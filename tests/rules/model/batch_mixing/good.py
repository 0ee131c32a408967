"""The same attention, told where the batch is."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Embedding(50, 16), nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), nn.Flatten(), nn.Linear(16 * 12, 2)
)
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randint(0, 50, (320, 12)), torch.randint(0, 2, (320,))

for xb, yb in zip(x.split(20), y.split(20)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
