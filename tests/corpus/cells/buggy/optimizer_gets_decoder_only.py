# case: param-not-in-optimizer-optimizer-gets-decoder-only
# kind: buggy
# expect: param-not-in-optimizer
# param: encoder
# style: image autoencoder, optimizer built from one of two parts
# --- setup ---
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader

torch.manual_seed(0)
imgs = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16


class ConvAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3, padding=1))
        self.decoder = nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(4, 8, 2, stride=2), nn.ReLU(), nn.Conv2d(8, 1, 1))

    def forward(self, x):
        return self.decoder(self.encoder(x))
# --- cell ---
ae = ConvAE()
optim = torch.optim.Adam(ae.decoder.parameters(), lr=3e-3)
for epoch in range(3):
    for x in DataLoader(imgs, batch_size=128, shuffle=True):
        loss = (ae(x) - x).pow(2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
    print("epoch", epoch, loss.item())
