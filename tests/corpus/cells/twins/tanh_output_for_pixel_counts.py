# case: output-range-mismatch-tanh-output-for-pixel-counts-repaired
# kind: healthy
# forbid: *
# style: autoencoder whose decoder ends in tanh while the images range from 0 to 16
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
pixels = torch.tensor(load_digits().data).float() / 16


class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.enc = nn.Sequential(nn.Linear(64, 16), nn.ReLU())
        self.dec = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 64), nn.Tanh())

    def forward(self, x):
        return self.dec(self.enc(self.norm(x)))
# --- cell ---
ae = AE()
opt = torch.optim.Adam(ae.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in torch.randperm(len(pixels)).split(128):
        loss = nn.functional.mse_loss(ae(pixels[rows]), pixels[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
