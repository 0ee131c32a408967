import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
weight = torch.tensor([1.0, 5.0, 20.0])  # weights and smoothing move the level
with torch.no_grad():
    model[2].weight.mul_(10)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(weight=weight, label_smoothing=0.1)
for step in range(40):
    opt.zero_grad()
    criterion(model(x), y).backward()
    opt.step()
