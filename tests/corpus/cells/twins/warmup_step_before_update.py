# case: scheduler-before-optimizer-warmup-step-before-update-repaired
# kind: healthy
# forbid: *
# style: training class, per-batch warm-up stepped before the optimizer in each batch
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)


class Session:
    def __init__(self, net):
        self.net = net
        self.optim = torch.optim.AdamW(net.parameters(), lr=1e-2)
        self.warmup = torch.optim.lr_scheduler.LinearLR(self.optim, start_factor=0.1, total_iters=10)

    def train_batch(self, rows):
        loss = nn.functional.cross_entropy(self.net(X[rows]), y[rows])
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        self.warmup.step()
        return loss.item()
# --- cell ---
session = Session(nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3)))
for epoch in range(8):
    for rows in torch.randperm(len(X)).split(32):
        value = session.train_batch(rows)
print(value)
