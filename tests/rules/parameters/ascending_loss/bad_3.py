# expect-line: (-loss).backward()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :1] - 2 * x[:, 1:2] + 0.1 * torch.randn(256, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
criterion = nn.MSELoss()
opt = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(40):
    opt.zero_grad()
    loss = criterion(model(x), y)
    (-loss).backward()
    opt.step()
