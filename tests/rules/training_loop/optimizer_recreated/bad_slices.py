"""An optimizer for each pass, over slices of a tensor."""

# expect-line: optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(400, 8), torch.randint(0, 4, (400,))
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
for epoch in range(5):
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for rows in torch.randperm(400).split(32):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
