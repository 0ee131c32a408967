# case: lr-too-high-wine-sgd-rate-of-ten-repaired
# kind: healthy
# forbid: *
# style: config dict with lr 10, SGD momentum
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
data = TensorDataset(X, torch.tensor(y))
# --- cell ---
model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
losses = []
for epoch in range(10):
    for features, label in DataLoader(data, batch_size=32, shuffle=True):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(features), label)
        loss.backward()
        opt.step()
        losses.append(loss.item())
print(losses[0], max(losses), losses[-1])
