"""The model is built again after the optimizer."""

# expect-line: model = make()
# expect-module: model
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


def make():
    return nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3))


model = make()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
model = make()
for i in range(8):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
