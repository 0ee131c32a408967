"""What the notebook keeps is a variable of the user's too."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)

data = torch.zeros(1 << 23)
Out = {3: data}
net = nn.Linear(8, 1)
# --- cell ---
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
