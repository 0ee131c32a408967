import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :1] - 2 * x[:, 1:2] + 0.1 * torch.randn(256, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
mask = (torch.rand(32, 8) > 0.97).float()  # a pruned layer: what is masked stays zero
with torch.no_grad():
    model[0].weight.mul_(mask)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(40):
    opt.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    opt.step()
    with torch.no_grad():
        model[0].weight.mul_(mask)
