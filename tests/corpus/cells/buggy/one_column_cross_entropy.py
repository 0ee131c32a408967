# case: degenerate-logits-one-column-cross-entropy
# kind: buggy
# expect: degenerate-logits
# allow: loss-not-decreasing, plateau, params-unchanged, uniform-prediction, vanishing-gradient
# line: loss = criterion(net(x), label)
# style: binary task with one output and CrossEntropyLoss (float targets of shape N,1)
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y).float().view(-1, 1)
dl = DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 1))
# --- cell ---
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(4):
    for x, label in dl:
        optimizer.zero_grad()
        loss = criterion(net(x), label)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
