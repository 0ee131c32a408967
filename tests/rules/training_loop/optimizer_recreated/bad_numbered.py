"""An optimizer for each pass, over slices by number."""

# expect-line: optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(1600, 8), torch.randint(0, 4, (1600,))
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
for epoch in range(4):
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for i in range(80):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i * 20 : (i + 1) * 20]), y[i * 20 : (i + 1) * 20])
        loss.backward()
        optimizer.step()
