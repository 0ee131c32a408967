# case: healthy-curriculum-by-difficulty
# kind: healthy
# forbid: *
# style: curriculum: easy rows first, more rows every epoch, loader rebuilt
# --- setup ---
import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X, y = torch.tensor(X * 21).float(), torch.tensor((y - y.mean()) / y.std()).float().unsqueeze(1)
difficulty = (y.squeeze(1) - X[:, 2] * 0.6).abs().argsort()
dataset = TensorDataset(X, y)
net = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 1))
# --- cell ---
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    share = min(1.0, 0.3 + 0.1 * epoch)
    active = Subset(dataset, difficulty[: int(share * 442)].tolist())
    for a, b in DataLoader(active, batch_size=32, shuffle=True):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(a), b)
        loss.backward()
        opt.step()
    print(epoch, len(active), loss.item())
with torch.no_grad():
    final = nn.functional.mse_loss(net(X), y).item()
