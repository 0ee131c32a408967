# case: detached-loss-loss-rebuilt-from-its-number
# kind: buggy
# expect: detached-loss
# allow: params-unchanged, loss-not-decreasing, plateau, backward-missing
# line: parts = [F.cross_entropy(head(hidden), kind).item(), 1e-3 * hidden.pow(2).mean().item()]
# style: two-term loss summed as Python floats, then wrapped into a tensor again
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data, cultivar = load_wine(return_X_y=True)
data = torch.tensor((data - data.mean(0)) / data.std(0), dtype=torch.float32)
batches = DataLoader(TensorDataset(data, torch.tensor(cultivar)), batch_size=32, shuffle=True)
trunk = nn.Sequential(nn.Linear(13, 16), nn.ReLU())
head = nn.Linear(16, 3)
# --- cell ---
optimizer = torch.optim.Adam([*trunk.parameters(), *head.parameters()], lr=0.01)
for epoch in range(5):
    for features, kind in batches:
        hidden = trunk(features)
        parts = [F.cross_entropy(head(hidden), kind).item(), 1e-3 * hidden.pow(2).mean().item()]
        total = torch.tensor(sum(parts), requires_grad=True)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
print(total.item())
