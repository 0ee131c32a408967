"""A scheduler is told that the validation loss should rise."""

import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

torch.manual_seed(0)
x = torch.randn(512, 8)
y = x[:, :1] * 2 - x[:, 1:2] + 0.1 * torch.randn(512, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
sched = ReduceLROnPlateau(opt, mode="max", patience=1, factor=0.1)
for epoch in range(8):
    model.train()
    for idx in torch.randperm(384).split(32):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val = nn.functional.mse_loss(model(x[384:]), y[384:])
    sched.step(val.item())
