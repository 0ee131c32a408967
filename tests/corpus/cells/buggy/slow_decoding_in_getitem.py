# case: data-bound-slow-decoding-in-getitem
# kind: buggy
# expect: data-bound
# style: image decoding imitated by a sleep in __getitem__
# --- setup ---
import time

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
d = load_digits()


class SlowImages(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, i):
        time.sleep(0.002)
        return torch.tensor(d.data[i] / 16).float(), int(d.target[i])
# --- cell ---
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(2):
    for x, y in DataLoader(SlowImages(), batch_size=32, shuffle=True):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
