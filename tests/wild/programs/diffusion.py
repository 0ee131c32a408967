"""A denoising diffusion model of two moons with a sinusoidal embedding of time, and an average of its weights."""

import copy
import math

import torch
from sklearn.datasets import make_moons
from torch import nn

torch.manual_seed(0)
data = torch.tensor(make_moons(2000, noise=0.05, random_state=0)[0], dtype=torch.float32)
T = 100
betas = torch.linspace(1e-4, 0.02, T)
kept = torch.cumprod(1 - betas, 0)


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.register_buffer("frequencies", torch.exp(torch.linspace(0, math.log(1000), 16)))
        self.net = nn.Sequential(
            nn.Linear(2 + 32, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2)
        )

    def forward(self, x, t):
        angles = t[:, None] / T * self.frequencies
        return self.net(torch.cat([x, angles.sin(), angles.cos()], 1))


model = Denoiser()
ema = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=300)
for step in range(300):
    x = data[torch.randint(len(data), (128,))]
    t = torch.randint(T, (128,))
    noise = torch.randn_like(x)
    noisy = kept[t].sqrt()[:, None] * x + (1 - kept[t]).sqrt()[:, None] * noise
    loss = (model(noisy, t.float()) - noise).pow(2).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    scheduler.step()
    for slow, fast in zip(ema.parameters(), model.parameters(), strict=True):
        slow.data.lerp_(fast.data, 0.01)
with torch.no_grad():
    x = torch.randn(64, 2)
    for t in reversed(range(T)):
        guess = ema(x, torch.full((64,), float(t)))
        x = (x - betas[t] / (1 - kept[t]).sqrt() * guess) / (1 - betas[t]).sqrt()
        x = x + betas[t].sqrt() * torch.randn_like(x) if t else x
result = [*model.state_dict().values(), *ema.state_dict().values(), x]
