"""Rewards of shape (N, 1) and values of shape (N,) make targets of shape (N, N) before they come to the loss."""

# expect-line: loss = nn.functional.mse_loss(q, target)
import torch
from torch import nn

torch.manual_seed(0)
state, following = torch.randn(256, 4), torch.randn(256, 4)
action, reward = torch.randint(0, 2, (256, 1)), torch.rand(256, 1)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for rows in torch.randperm(256).split(32):
    q = net(state[rows]).gather(1, action[rows])
    with torch.no_grad():
        target = reward[rows] + 0.9 * net(following[rows]).max(1).values
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(q, target)
    loss.backward()
    optimizer.step()
