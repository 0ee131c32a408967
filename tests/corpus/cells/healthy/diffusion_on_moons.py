# case: healthy-diffusion-on-moons
# kind: healthy
# forbid: *
# style: denoising diffusion on 2-d points, predicting the noise
# --- setup ---
import torch
from sklearn.datasets import make_moons
from torch import nn

torch.manual_seed(0)
points = torch.tensor(make_moons(2000, noise=0.05, random_state=0)[0]).float()
T = 50
betas = torch.linspace(1e-4, 0.2, T)
alpha_bar = torch.cumprod(1 - betas, 0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(T, 16)
        self.net = nn.Sequential(nn.Linear(18, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], 1))


denoiser = Denoiser()
# --- cell ---
opt = torch.optim.AdamW(denoiser.parameters(), lr=3e-3)
for step in range(250):
    x0 = points[torch.randint(0, 2000, (128,))]
    t = torch.randint(0, T, (128,))
    noise = torch.randn_like(x0)
    a = alpha_bar[t].unsqueeze(1)
    xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
    loss = nn.functional.mse_loss(denoiser(xt, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    x = torch.randn(64, 2)
    for s in reversed(range(T)):
        eps = denoiser(x, torch.full((64,), s))
        x = (x - betas[s] / (1 - alpha_bar[s]).sqrt() * eps) / (1 - betas[s]).sqrt()
        if s:
            x = x + betas[s].sqrt() * torch.randn_like(x)
print(loss.item(), x.std(0))
