"""One network chooses a code for the other by the place of the largest value, which has no graph."""

# expect-line: _, code = torch.max(chooser(x), 1)
# expect-module: chooser
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)
y = (x[:, 0] > 0).long()
chooser = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 6))
reader = nn.Sequential(nn.Embedding(6, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam([*chooser.parameters(), *reader.parameters()], lr=1e-2)
for i in range(12):
    _, code = torch.max(chooser(x), 1)
    opt.zero_grad()
    F.cross_entropy(reader(code), y).backward()
    opt.step()
