"""A policy is updated every second time only, the critic always."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Linear(6, 1)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)

for step in range(16):
    state = torch.randn(32, 4)
    value = critic(torch.cat([state, actor(state).detach()], 1))
    critic_opt.zero_grad()
    F.mse_loss(value, state.sum(1, keepdim=True)).backward()
    critic_opt.step()
    if step % 2 == 0:
        actor_opt.zero_grad()
        (-critic(torch.cat([state, actor(state)], 1)).mean()).backward()
        actor_opt.step()
