# case: healthy-vae-reparameterised
# kind: healthy
# forbid: *
# style: VAE class, BCE reconstruction summed and KL, dict of losses
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
imgs = torch.tensor(load_digits().data / 16).float()


class VAE(nn.Module):
    def __init__(self, latent=4):
        super().__init__()
        self.enc = nn.Linear(64, 40)
        self.mu, self.logvar = nn.Linear(40, latent), nn.Linear(40, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 40), nn.ReLU(), nn.Linear(40, 64), nn.Sigmoid())

    def forward(self, x):
        h = F.silu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


vae = VAE()
# --- cell ---
opt = torch.optim.Adam(vae.parameters(), lr=3e-3)
for epoch in range(5):
    for x in DataLoader(imgs, batch_size=64, shuffle=True):
        recon, mu, logvar = vae(x)
        losses = {
            "bce": F.binary_cross_entropy(recon, x, reduction="sum") / len(x),
            "kl": -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum() / len(x),
        }
        loss = sum(losses.values())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, {k: round(v.item(), 3) for k, v in losses.items()})
