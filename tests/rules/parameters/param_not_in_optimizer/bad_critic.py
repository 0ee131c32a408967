"""A critic is to tell real from made up, and its optimizer was forgotten: its losses are its own scores too."""

# expect-module: critic.0
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer = torch.optim.RMSprop(generator.parameters(), lr=1e-3)

for step in range(8):
    real, fake = torch.randn(32, 2) + 2, generator(torch.randn(32, 2))
    critic_loss = critic(fake.detach()).mean() - critic(real).mean()
    critic_loss.backward()
    optimizer.zero_grad()
    loss = -critic(fake).mean()
    loss.backward()
    optimizer.step()
