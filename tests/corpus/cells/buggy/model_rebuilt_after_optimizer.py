# case: stale-optimizer-model-rebuilt-after-optimizer
# kind: buggy
# expect: stale-optimizer
# allow: params-unchanged, loss-not-decreasing, plateau, backward-missing, param-not-in-optimizer, unused-parameter, uniform-prediction
# line: model = make_mlp(hidden=32)
# style: hyper-parameter edited, model line run again below the optimizer
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
loader = DataLoader(TensorDataset(torch.tensor(d.data / 16).float(), torch.tensor(d.target)), 64, shuffle=True)


def make_mlp(hidden):
    return nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))


model = make_mlp(32)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
# --- cell ---
torch.manual_seed(1)
model = make_mlp(hidden=32)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
