"""A rate falls in a straight line to 0, which it reaches with the last step."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(320, 10)
y = (x[:, 0] + x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 1 - step / 120)
for epoch in range(12):
    for rows in torch.randperm(320).split(32):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        opt.step()
        scheduler.step()
