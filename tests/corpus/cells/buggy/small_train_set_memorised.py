# case: overfitting-small-train-set-memorised
# kind: buggy
# expect: overfitting
# style: wide network on 60 noisy rows, validation loss rises
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)
y = torch.where(torch.rand(len(y)) < 0.25, 1 - y, y)
rows = torch.randperm(len(y))
xt, yt, xv, yv = X[rows[:60]], y[rows[:60]], X[rows[60:]], y[rows[60:]]
# --- cell ---
net = nn.Sequential(nn.Linear(30, 256), nn.ReLU(), nn.Linear(256, 2))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
history = []
for epoch in range(60):
    net.train()
    for idx in torch.randperm(60).split(20):
        opt.zero_grad()
        loss = criterion(net(xt[idx]), yt[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        history.append(criterion(net(xv), yv).item())
print(min(history), history[-1])
