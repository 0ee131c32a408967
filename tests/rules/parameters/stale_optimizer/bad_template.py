"""Each fold trains a copy of a template, and the optimizer is given the template."""

# expect-line: optimizer = torch.optim.Adam(template.parameters(), lr=1e-2)
import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(120, 6), torch.randint(0, 3, (120,))
template = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
for fold in range(2):
    model = copy.deepcopy(template)
    optimizer = torch.optim.Adam(template.parameters(), lr=1e-2)
    for step in range(12):
        optimizer.zero_grad()
        F.cross_entropy(model(x[fold::2]), y[fold::2]).backward()
        optimizer.step()
