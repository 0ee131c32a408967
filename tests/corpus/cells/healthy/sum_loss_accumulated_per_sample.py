# case: healthy-sum-loss-accumulated-per-sample
# kind: healthy
# forbid: *
# style: sum-reduced loss accumulated over micro batches and divided through the learning rate
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y).float()
net = nn.Sequential(nn.Linear(30, 16), nn.Tanh(), nn.Linear(16, 1), nn.Flatten(0))
# --- cell ---
criterion = nn.BCEWithLogitsLoss(reduction="sum")
opt = torch.optim.SGD(net.parameters(), lr=2e-3, momentum=0.9)
for epoch in range(8):
    for rows in torch.randperm(569).split(96):
        opt.zero_grad()
        for part in rows.split(24):
            loss = criterion(net(X[part]), y[part])
            loss.backward()
        opt.step()
    print(epoch, loss.item() / len(part))
