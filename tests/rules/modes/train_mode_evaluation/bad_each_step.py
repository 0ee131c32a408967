# expect-line: loss = nn.functional.cross_entropy(model(xb), yb)  # validation
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.arange(96) % 2
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
valid = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=32)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    opt.zero_grad()
    for xb, yb in train:
        (nn.functional.cross_entropy(model(xb), yb) / len(train)).backward()
    opt.step()
    with torch.no_grad():
        for xb, yb in valid:
            loss = nn.functional.cross_entropy(model(xb), yb)  # validation
