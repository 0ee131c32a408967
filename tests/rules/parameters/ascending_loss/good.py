import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1, maximize=True)
for step in range(40):
    opt.zero_grad()
    score = -nn.functional.cross_entropy(model(x), y)  # turned twice: down after all
    score.backward()
    opt.step()
