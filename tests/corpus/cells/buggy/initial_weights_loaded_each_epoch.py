# case: model-recreated-initial-weights-loaded-each-epoch
# kind: buggy
# expect: model-recreated
# allow: loss-not-decreasing, params-unchanged
# line: model.load_state_dict(start)
# style: reproducibility habit gone wrong: initial state_dict restored at the top of each epoch
# --- setup ---
import copy

import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0), dtype=torch.float32)
loader = DataLoader(TensorDataset(X, torch.tensor(y)), batch_size=30, shuffle=True)
model = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3))
start = copy.deepcopy(model.state_dict())
# --- cell ---
opt = torch.optim.SGD(model.parameters(), lr=0.05)
epoch_losses = []
for epoch in range(8):
    model.load_state_dict(start)
    total = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item()
    epoch_losses.append(total / len(loader))
print(epoch_losses)
