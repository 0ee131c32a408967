# case: lr-zero-group-with-zero-rate
# kind: buggy
# expect: lr-zero
# allow: params-unchanged, loss-not-decreasing, update-too-small, plateau
# style: two parameter groups, the second with lr=0.0 left from a debugging session
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=64, shuffle=True)
stem = nn.Sequential(nn.Linear(64, 32), nn.ReLU())
head = nn.Linear(32, 10)
# --- cell ---
optimizer = torch.optim.Adam([
    {"params": head.parameters(), "lr": 3e-3},
    {"params": stem.parameters(), "lr": 0.0},
])
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(stem(x)), y)
        loss.backward()
        optimizer.step()
print(loss.item())
