# case: missing-activation-two-linears-in-a-row-repaired
# kind: healthy
# forbid: *
# style: Sequential of Linear layers with one activation forgotten
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
dl = DataLoader(TensorDataset(torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)), 64, shuffle=True)
# --- cell ---
net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(4):
    for x, t in dl:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), t)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
