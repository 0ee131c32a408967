# expect-line: opt = torch.optim.SGD(model.parameters(), lr=1e-8)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :1] - 2 * x[:, 1:2] + 0.1 * torch.randn(256, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=1e-8)
for epoch in range(40):
    for idx in torch.randperm(256).split(256):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
