# case: loss-not-decreasing-target-drawn-again-in-getitem-repaired
# kind: healthy
# forbid: *
# style: Dataset returns the features of one row and the target of a random other one
# --- setup ---
import random

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
random.seed(0)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16).float(), torch.tensor(y)


class Pairs(Dataset):
    def __len__(self):
        return len(X)

    def __getitem__(self, index):
        row = X[index]
        return row, y[index]
# --- cell ---
net = nn.Sequential(nn.Linear(64, 16), nn.Tanh(), nn.Linear(16, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for a, b in DataLoader(Pairs(), batch_size=40, shuffle=True):
        loss = nn.functional.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
