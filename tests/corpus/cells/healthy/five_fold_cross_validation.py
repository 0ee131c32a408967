# case: healthy-five-fold-cross-validation
# kind: healthy
# forbid: *
# style: k-fold with a new model and optimizer per fold
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import KFold
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
dataset = TensorDataset(torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y))
# --- cell ---
scores = []
for fold, (train_idx, val_idx) in enumerate(KFold(5, shuffle=True, random_state=0).split(X)):
    net = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(3):
        net.train()
        for xb, yb in DataLoader(Subset(dataset, train_idx), batch_size=64, shuffle=True):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(xb), yb)
            loss.backward()
            opt.step()
    net.eval()
    with torch.no_grad():
        hits = sum((net(xb).argmax(1) == yb).sum().item() for xb, yb in DataLoader(Subset(dataset, val_idx), batch_size=64))
    scores.append(hits / len(val_idx))
print(scores)
