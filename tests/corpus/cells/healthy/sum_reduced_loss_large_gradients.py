# case: healthy-sum-reduced-loss-large-gradients
# kind: healthy
# forbid: *
# style: sum over the batch and the pixels, gradients in the thousands, loss falls
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
pixels = torch.tensor(load_digits().data / 16).float()
ae = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 64))
# --- cell ---
opt = torch.optim.Adam(ae.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(len(pixels)).split(256):
        loss = nn.functional.mse_loss(ae(pixels[rows]), pixels[rows], reduction="sum")
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
