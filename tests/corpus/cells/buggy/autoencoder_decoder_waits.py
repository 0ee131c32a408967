# case: step-missing-autoencoder-decoder-waits
# kind: buggy
# expect: step-missing
# allow: plateau, loss-not-decreasing
# module: decoder
# style: two optimizers, one for the encoder and one for the decoder, the second is only cleared
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(5)
imgs = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))
        self.decoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 64))

    def forward(self, x):
        return self.decoder(self.encoder(x))
# --- cell ---
ae = AutoEncoder()
enc_opt = torch.optim.Adam(ae.encoder.parameters(), lr=2e-3)
dec_opt = torch.optim.Adam(ae.decoder.parameters(), lr=2e-3)
for epoch in range(4):
    for chunk in imgs.split(128):
        enc_opt.zero_grad()
        dec_opt.zero_grad()
        reconstruction_loss = nn.functional.mse_loss(ae(chunk), chunk)
        reconstruction_loss.backward()
        enc_opt.step()
print(reconstruction_loss.item())
