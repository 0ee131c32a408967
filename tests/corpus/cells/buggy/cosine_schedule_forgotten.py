# case: scheduler-not-stepped-cosine-schedule-forgotten
# kind: buggy
# expect: scheduler-not-stepped
# line: scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
# style: cosine schedule built and only its get_last_lr is printed
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
loader = DataLoader(TensorDataset(X, torch.tensor(y)), batch_size=48, shuffle=True)
net = nn.Sequential(nn.Linear(30, 16), nn.LeakyReLU(), nn.Linear(16, 2))
# --- cell ---
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
for epoch in range(6):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), scheduler.get_last_lr())
