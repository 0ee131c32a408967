# case: empty-loader-drop-last-drops-everything
# kind: buggy
# expect: empty-loader
# line: loader = DataLoader(train_set, batch_size=256, shuffle=True, drop_last=True)
# style: batch size larger than the data with drop_last
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
train_set = TensorDataset(torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y))
# --- cell ---
loader = DataLoader(train_set, batch_size=256, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for epoch in range(20):
    for x, t in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), t)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
print("steps:", len(losses))
