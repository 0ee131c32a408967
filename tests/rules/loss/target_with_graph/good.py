"""The target of Q-learning is made without a graph."""

import torch
from torch import nn

torch.manual_seed(0)
states = torch.randn(512, 6)
following = states + 0.1 * torch.randn_like(states)
actions = torch.randint(2, (512, 1))
rewards = states[:, :1] * (2 * actions - 1)
values = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(values.parameters(), lr=1e-3)
for rows in torch.randperm(512).repeat(4).split(64):
    chosen = values(states[rows]).gather(1, actions[rows])
    with torch.no_grad():
        target = rewards[rows] + 0.9 * values(following[rows]).amax(1, keepdim=True)
    loss = nn.functional.smooth_l1_loss(chosen, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
