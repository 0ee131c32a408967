import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
inputs = torch.from_numpy(np.random.default_rng(0).normal(size=(16, 4))).float()
targets = inputs.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for _ in range(8):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):  # mixes dtypes on purpose
        outputs = model(inputs)
    loss = F.mse_loss(outputs.float(), targets)
    loss.backward()
    optimizer.step()
