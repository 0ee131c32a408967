import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: optimizer_d.step()
generator, critic = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
optimizer_d = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(4):
    score = critic(generator(torch.randn(16, 4)))
    optimizer_d.zero_grad()
    score.mean().backward(retain_graph=True)
    optimizer_d.step()
    optimizer_g.zero_grad()
    (-score.mean()).backward()
    optimizer_g.step()
