# case: update-too-small-lr-in-the-wrong-unit
# kind: buggy
# expect: update-too-small
# allow: loss-not-decreasing, plateau, params-unchanged
# line: opt = torch.optim.Adam(net.parameters(), lr=1e-9)
# style: learning rate given as 1e-9, convolutional digits model
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
x = torch.tensor(d.images / 16).float().unsqueeze(1)
dl = DataLoader(TensorDataset(x, torch.tensor(d.target)), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=1e-9)
for epoch in range(3):
    running = 0.0
    for img, lab in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(img), lab)
        loss.backward()
        opt.step()
        running += loss.item()
    print(epoch, running / len(dl))
