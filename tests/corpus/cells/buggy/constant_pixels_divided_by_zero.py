# case: nonfinite-input-constant-pixels-divided-by-zero
# kind: buggy
# expect: nonfinite-input
# allow: nonfinite-forward, nonfinite-gradient, loss-not-decreasing, uniform-prediction
# style: standardisation by a zero standard deviation (constant border pixels of digits)
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
raw = torch.tensor(d.data).float()
scaled = (raw - raw.mean(0)) / raw.std(0)
loader = DataLoader(TensorDataset(scaled, torch.tensor(d.target)), batch_size=64, shuffle=True)
# --- cell ---
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(2):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
