"""The model is built again after some steps of the run, and its optimizer is not."""

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
opt = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
for i in range(6):
    opt.zero_grad()
    F.cross_entropy(model(x), y).backward()
    opt.step()
model = make()
for i in range(34):
    opt.zero_grad()
    F.cross_entropy(model(x), y).backward()
    opt.step()
