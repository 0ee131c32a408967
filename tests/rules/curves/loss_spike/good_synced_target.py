"""A target network is copied from the trained one now and then: the next loss is to other targets, and higher."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
states, actions = torch.rand(4000, 2) * 2 - 1, torch.randint(0, 3, (4000,))
after = (states + torch.stack([(actions - 1).float() * 0.2, 0.1 * states[:, 0]], 1)).clamp(-1, 1)
rewards = 1 - after.abs().sum(1)
q = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 3))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=2e-3)
for step in range(900):
    rows = torch.randint(0, 4000, (64,))
    with torch.no_grad():
        wanted = rewards[rows] + 0.9 * target(after[rows]).max(1).values
    loss = nn.functional.mse_loss(q(states[rows]).gather(1, actions[rows, None]).squeeze(1), wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if (step + 1) % 150 == 0:
        target.load_state_dict(q.state_dict())
