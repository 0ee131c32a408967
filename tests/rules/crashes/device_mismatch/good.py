import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
shapes = nn.Linear(4, 1).to("meta")(torch.empty(16, 4, device="meta")).shape  # only shapes are asked for
inputs, targets = torch.randn(16, 4), torch.randn(shapes)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for _ in range(8):
    optimizer.zero_grad()
    loss = F.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
