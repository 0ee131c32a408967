# case: healthy-ensemble-in-parallel
# kind: healthy
# forbid: *
# style: ensemble of four members trained side by side, each with its own optimizer
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), batch_size=100, shuffle=True)
# --- cell ---
members = nn.ModuleList(nn.Sequential(nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 10)) for _ in range(4))
optimizers = [torch.optim.Adam(m.parameters(), lr=5e-3) for m in members]
for epoch in range(3):
    for x, y in loader:
        for member, opt in zip(members, optimizers):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(member(x), y)
            loss.backward()
            opt.step()
with torch.no_grad():
    votes = torch.stack([m(x).softmax(1) for m in members]).mean(0)
print(loss.item(), (votes.argmax(1) == y).float().mean().item())
