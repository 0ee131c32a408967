# case: param-not-in-optimizer-last-layer-swapped-after-optimizer
# kind: buggy
# expect: param-not-in-optimizer
# allow: stale-optimizer
# line: network[-1] = nn.Linear(32, 2)
# param: 2.
# style: transfer from three to two classes, model[-1] replaced after the optimizer was built
# --- setup ---
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
dl = DataLoader(TensorDataset(X, torch.tensor(y)), batch_size=64, shuffle=True)
network = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 3))
# --- cell ---
optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
network[-1] = nn.Linear(32, 2)
for epoch in range(4):
    for inputs, target in dl:
        optimizer.zero_grad()
        ce = nn.functional.cross_entropy(network(inputs), target)
        ce.backward()
        optimizer.step()
print(ce.item())
