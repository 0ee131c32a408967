# case: lr-zero-manual-decay-underflows-repaired
# kind: healthy
# forbid: *
# style: hand-written decay of param_groups, executed per batch instead of per epoch
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)
clf = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 2))
# --- cell ---
opt = torch.optim.SGD(clf.parameters(), lr=0.01)
for epoch in range(8):
    for rows in torch.randperm(len(X)).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(clf(X[rows]), y[rows])
        loss.backward()
        opt.step()
    for group in opt.param_groups:
        group["lr"] *= 0.8
    print(epoch, loss.item(), opt.param_groups[0]["lr"])
