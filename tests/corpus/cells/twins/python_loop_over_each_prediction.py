# case: sync-in-loop-python-loop-over-each-prediction-repaired
# kind: healthy
# forbid: *
# style: accuracy counted with .item() for each sample of the batch
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
dl = DataLoader(TensorDataset(torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)), 32, shuffle=True)
net = nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(6):
    right = 0
    for x, label in dl:
        out = net(x)
        loss = nn.functional.cross_entropy(out, label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += (out.argmax(1) == label).sum().item()
    print(epoch, right / 178)
