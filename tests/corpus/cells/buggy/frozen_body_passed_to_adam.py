# case: frozen-in-optimizer-frozen-body-passed-to-adam
# kind: buggy
# expect: frozen-in-optimizer
# style: fine-tuning with a frozen body, all parameters handed to the optimizer
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
body = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
pretrain = torch.optim.Adam([*body.parameters(), *(probe := nn.Linear(64, 2)).parameters()], lr=5e-3)
for _ in range(30):
    pretrain.zero_grad()
    nn.functional.cross_entropy(probe(body(X)), y % 2).backward()
    pretrain.step()
# --- cell ---
for p in body.parameters():
    p.requires_grad = False
model = nn.Sequential(body, nn.Linear(64, 10))
body.zero_grad()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=128, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
