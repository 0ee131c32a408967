"""A bound far below the norms, which a rate far above the usual makes up for: each step has the same healthy length."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = x[:, :1] - 2 * x[:, 1:2] + 0.1 * torch.randn(512, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=3e4)
for epoch in range(10):
    for idx in torch.randperm(512).split(64):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1e-6)
        opt.step()
