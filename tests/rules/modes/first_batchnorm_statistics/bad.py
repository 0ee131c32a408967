"""An average of the parameters is evaluated; its running statistics are those it was copied with."""

# expect-line: scores = average(x[200:])
# expect-module: average.1
import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8) * 3 + 2
y = x[:, :1] - x[:, 1:2]
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
average = copy.deepcopy(model)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    for rows in torch.randperm(200).split(50):
        opt.zero_grad()
        nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
        opt.step()
        for own, new in zip(average.parameters(), model.parameters(), strict=True):
            own.data.lerp_(new.data, 0.2)
    average.eval()
    with torch.no_grad():
        scores = average(x[200:])
