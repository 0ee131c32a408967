import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :1]
model = nn.Linear(8, 1)
with torch.no_grad():
    model.weight.mul_(20)  # begun far too large: the decay helps
opt = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=0.1)
for step in range(80):
    opt.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    opt.step()
