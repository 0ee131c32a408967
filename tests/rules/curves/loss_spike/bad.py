# expect-line: loss.backward()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :1] - 2 * x[:, 1:2] + 0.1 * torch.randn(256, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(80):
    opt.zero_grad()
    wrong = 30.0 if step == 60 else 1.0  # one batch with targets in another unit
    loss = nn.functional.mse_loss(model(x), wrong * y)
    loss.backward()
    opt.step()
