# case: healthy-classifier-then-autoencoder
# kind: healthy
# forbid: *
# style: two models one after the other in a cell, the second with a summed loss whose gradients are larger by nature
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
x = torch.tensor(digits.data[:960]).float() / 16
data = DataLoader(TensorDataset(x, torch.tensor(digits.target[:960])), batch_size=48, shuffle=True)
# --- cell ---
classifier = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.Adam(classifier.parameters(), lr=2e-3)
for epoch in range(8):
    for image, digit in data:
        opt.zero_grad()
        nn.functional.cross_entropy(classifier(image), digit).backward()
        opt.step()

autoencoder = nn.Sequential(nn.Linear(64, 16), nn.Tanh(), nn.Linear(16, 64))
ae_opt = torch.optim.Adam(autoencoder.parameters(), lr=2e-3)
for epoch in range(4):
    for image, _ in data:
        ae_opt.zero_grad()
        ((autoencoder(image) - image * 16) ** 2).sum().backward()
        ae_opt.step()
