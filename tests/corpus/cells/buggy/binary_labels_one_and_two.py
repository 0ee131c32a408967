# case: label-out-of-range-binary-labels-one-and-two
# kind: buggy
# expect: label-out-of-range
# allow: loss-not-decreasing
# line: loss = bce(clf(x).view(-1), target)
# style: BCEWithLogitsLoss with targets coded 1 and 2; the loss goes below zero
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
raw, diagnosis = load_breast_cancer(return_X_y=True)
raw = torch.tensor((raw - raw.mean(0)) / raw.std(0)).float()
diagnosis = torch.tensor(diagnosis + 1).float()
clf = nn.Sequential(nn.Linear(30, 12), nn.ReLU(), nn.Linear(12, 1))
# --- cell ---
bce = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(clf.parameters(), lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(len(raw)).split(64):
        x, target = raw[rows], diagnosis[rows]
        opt.zero_grad()
        loss = bce(clf(x).view(-1), target)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
