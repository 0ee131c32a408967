import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 16).bfloat16()
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2)).bfloat16()
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(20):
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    opt.step()
