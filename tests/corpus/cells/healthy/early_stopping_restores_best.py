# case: healthy-early-stopping-restores-best
# kind: healthy
# forbid: *
# style: training class with early stopping, best state kept and restored at the end
# --- setup ---
import copy

import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
parts = train_test_split((X - X.mean(0)) / X.std(0), y, test_size=0.3, random_state=0)
xtr, xva = (torch.tensor(p).float() for p in parts[:2])
ytr, yva = (torch.tensor(p) for p in parts[2:])


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad, self.state = patience, float("inf"), 0, None

    def should_stop(self, value, net):
        if value < self.best:
            self.best, self.bad, self.state = value, 0, copy.deepcopy(net.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience
# --- cell ---
net = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
stopper = EarlyStopping(patience=4)
for epoch in range(30):
    net.train()
    for rows in torch.randperm(len(xtr)).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(xtr[rows]), ytr[rows])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        val = nn.functional.cross_entropy(net(xva), yva).item()
    if stopper.should_stop(val, net):
        break
net.load_state_dict(stopper.state)
print(epoch, stopper.best)
