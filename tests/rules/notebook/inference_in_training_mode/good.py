"""A cell predicts in evaluation mode; another cell trains."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)

net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
# --- cell ---
for _ in range(10):
    net.train()
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    net.eval()
    with torch.no_grad():
        predictions = net(x)
