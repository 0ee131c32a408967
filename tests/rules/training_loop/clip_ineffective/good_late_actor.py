"""The actor is clipped in each step, also in the many in which only the critic learns."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
critic = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
for step in range(40):
    state, action = torch.randn(64, 4), torch.rand(64, 1) * 2 - 1
    reward = -(action - state[:, :1].tanh()).square()
    actor_opt.zero_grad()
    critic_opt.zero_grad()
    nn.functional.mse_loss(critic(torch.cat([state, action], 1)), reward).backward()
    delayed = step >= 10 and step % 5 == 0
    if delayed:
        critic_opt.step()
        critic_opt.zero_grad()
        (-critic(torch.cat([state, actor(state)], 1)).mean()).backward()
    nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
    (actor_opt if delayed else critic_opt).step()
