"""An actor is trained to please a critic that stays as it is: the loss is nothing but what the critic gives."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)

for step in range(8):
    states = torch.randn(32, 3)
    loss = -critic(torch.cat([states, actor(states)], 1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
