# expect-module: model.0.weight
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 16).bfloat16()
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2)).bfloat16()
opt = torch.optim.Adam(model.parameters(), lr=2e-4)
for step in range(30):
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    opt.step()
