import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: loss = F.mse_loss(model(inputs), targets)
# expect-module: model.0
inputs = torch.from_numpy(np.random.default_rng(0).normal(size=(16, 4)))
targets = inputs.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for _ in range(8):
    optimizer.zero_grad()
    loss = F.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
