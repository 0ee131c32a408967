# case: healthy-wgan-gradient-penalty
# kind: healthy
# forbid: *
# style: WGAN-GP, five critic steps per generator step, create_graph
# --- setup ---
import torch
from sklearn.datasets import make_moons
from torch import nn

torch.manual_seed(0)
moons = torch.tensor(make_moons(1000, noise=0.05, random_state=0)[0]).float()
G = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
C = nn.Sequential(nn.Linear(2, 32), nn.SiLU(), nn.Linear(32, 1))


def gradient_penalty(critic, real, fake):
    eps = torch.rand(len(real), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    grad, = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()
# --- cell ---
opt_G = torch.optim.Adam(G.parameters(), lr=5e-4, betas=(0.0, 0.9))
opt_C = torch.optim.Adam(C.parameters(), lr=5e-4, betas=(0.0, 0.9))
for iteration in range(40):
    for _ in range(5):
        real = moons[torch.randint(0, 1000, (64,))]
        fake = G(torch.randn(64, 2)).detach()
        c_loss = C(fake).mean() - C(real).mean() + 10 * gradient_penalty(C, real, fake)
        opt_C.zero_grad()
        c_loss.backward()
        opt_C.step()
    g_loss = -C(G(torch.randn(64, 2))).mean()
    opt_G.zero_grad()
    g_loss.backward()
    opt_G.step()
print(c_loss.item(), g_loss.item())
