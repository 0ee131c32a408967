# case: healthy-warmup-then-cosine-lambda
# kind: healthy
# forbid: *
# style: LambdaLR with linear warm-up from zero and cosine to zero, stepped per batch
# --- setup ---
import math

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
# --- cell ---
epochs = 5
total, warm = epochs * len(loader), 20
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: s / warm if s < warm else 0.5 * (1 + math.cos(math.pi * (s - warm) / (total - warm)))
)
for epoch in range(epochs):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        schedule.step()
    print(epoch, loss.item(), schedule.get_last_lr()[0])
