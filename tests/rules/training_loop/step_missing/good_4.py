"""Both halves of the loop step their own optimizer, from an earlier cell."""

import torch
from torch import nn

torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
critic = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
maker_opt = torch.optim.Adam(maker.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
verdict = nn.BCEWithLogitsLoss()
real = torch.randn(256, 8) + 2
ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
# --- cell ---
for rows in torch.randperm(256).split(32) * 3:
    maker.zero_grad()
    made = maker(torch.randn(32, 4))
    verdict(critic(made), ones).backward()
    maker_opt.step()

    critic.zero_grad()
    critic_loss = verdict(critic(real[rows]), ones) + verdict(critic(made.detach()), zeros)
    critic_loss.backward()
    critic_opt.step()
