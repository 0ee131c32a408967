"""Words by their numbers, pictures whose borders are nearly always black, and one feature that is nearly always zero."""

import torch
from torch import nn

torch.manual_seed(0)
words = torch.randint(0, 5000, (320, 12))
pictures = torch.rand(320, 64) * (torch.rand(320, 64) < 0.3)
pictures[:, :8] = 0.0
pictures[::16, 0] = 1 / 255
labels = torch.randint(0, 2, (320,))
text = nn.Sequential(nn.Embedding(5000, 16), nn.Flatten(), nn.Linear(192, 2))
seen = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 2))
for net, data in ((text, words), (seen, pictures)):
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    for i in range(0, 320, 32):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(data[i : i + 32]), labels[i : i + 32]).backward()
        optimizer.step()
