"""The moments of Adam come from a checkpoint that holds NaN; weights and gradients are finite."""

# expect-line: optimizer.step()
# expect-module: net.0
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(64, 4), torch.randn(64, 1)

nn.functional.mse_loss(net(x), y).backward()
optimizer.step()
checkpoint = optimizer.state_dict()
checkpoint["state"][0]["exp_avg_sq"][0, 0] = float("nan")
optimizer.load_state_dict(checkpoint)

for step in range(5):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
