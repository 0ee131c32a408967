# case: saturated-activation-tanh-on-raw-measurements
# kind: buggy
# expect: saturated-activation, input-not-normalised
# allow: input-not-normalised, vanishing-gradient, plateau, loss-not-decreasing, uniform-prediction
# module: 1
# style: breast cancer table in raw units into a tanh layer
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
dl = DataLoader(TensorDataset(torch.tensor(X).float(), torch.tensor(y)), batch_size=48, shuffle=True)
# --- cell ---
clf = nn.Sequential(nn.Linear(30, 32), nn.Tanh(), nn.Linear(32, 2))
opt = torch.optim.Adam(clf.parameters(), lr=1e-3)
for epoch in range(4):
    for x, t in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(clf(x), t)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
