"""The weights were broken before the first step, as by a checkpoint."""

# expect-module: net.2
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
state = net.state_dict()
state["2.weight"][0, 3] = float("inf")
net.load_state_dict(state)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(64, 4), torch.randn(64, 1)

for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
