import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    opt.step()
delta = torch.zeros(1, 8, requires_grad=True)  # an attack goes up on purpose
attack = torch.optim.SGD([delta], lr=0.5, maximize=True)
for step in range(30):
    attack.zero_grad()
    nn.functional.cross_entropy(model(x + delta), y).backward()
    attack.step()
