"""A checkpoint of the middle of a training is written at its end."""

# expect-line: middle = dict(model.state_dict())
import io

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Linear(8, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(20):
    opt.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    opt.step()
    if i == 10:
        middle = dict(model.state_dict())
torch.save({"model": middle, "step": 10}, io.BytesIO())
