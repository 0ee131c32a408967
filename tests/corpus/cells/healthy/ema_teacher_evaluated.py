# case: healthy-ema-teacher-evaluated
# kind: healthy
# forbid: *
# style: exponential moving average model updated under no_grad, used for evaluation
# --- setup ---
import copy

import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)
order = torch.randperm(178)
X, y = X[order], y[order]
model = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 3))
ema = copy.deepcopy(model).requires_grad_(False)
ema.eval()
# --- cell ---
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(12):
    model.train()
    for rows in torch.randperm(130).split(26):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(X[rows]), y[rows])
        loss.backward()
        opt.step()
        with torch.no_grad():
            for e, p in zip(ema.parameters(), model.parameters()):
                e.lerp_(p, 0.1)
    with torch.no_grad():
        acc = (ema(X[130:]).argmax(1) == y[130:]).float().mean().item()
    print(epoch, loss.item(), acc)
