import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: g_loss.backward()
generator, critic = (
    nn.Sequential(nn.Linear(4, 4), nn.Tanh()),
    nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)),
)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
optimizer_d = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(4):
    fake = generator(torch.randn(16, 4))
    d_loss = F.softplus(critic(fake)).mean() + F.softplus(-critic(torch.randn(16, 4))).mean()
    optimizer_d.zero_grad()
    d_loss.backward()
    optimizer_d.step()
    g_loss = F.softplus(-critic(fake)).mean()
    optimizer_g.zero_grad()
    g_loss.backward()
    optimizer_g.step()
