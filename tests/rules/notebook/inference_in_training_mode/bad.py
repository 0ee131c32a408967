"""A cell predicts with the model as the training cell left it."""
# expect-line: predictions = net(x)

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)

net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 1))
# --- cell ---
with torch.no_grad():
    predictions = net(x)
print(predictions.mean())
