"""The generator's gradients are made at every batch, and used at every third one; the critic steps in between."""

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

for i in range(30):
    critic_opt.zero_grad()
    made = maker(torch.randn(32, 4))
    lost = verdict(critic(real[:32]), ones) + verdict(critic(made.detach()), zeros)
    lost.backward()
    critic_opt.step()
    maker_opt.zero_grad()
    verdict(critic(made), ones).backward()
    if i % 3 == 2:
        maker_opt.step()
