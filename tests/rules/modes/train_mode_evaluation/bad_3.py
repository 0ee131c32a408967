"""The whole data set at each step, and the same validation tensor after it."""

# expect-line: val_loss = F.mse_loss(net(x_val), y_val)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)
x_val, y_val = torch.randn(32, 8), torch.randn(32, 1)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Dropout(0.2), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(12):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    with torch.inference_mode():
        val_loss = F.mse_loss(net(x_val), y_val)
