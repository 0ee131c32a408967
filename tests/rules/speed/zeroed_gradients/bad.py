"""Large gradients filled with zeros in each step."""

# profile: steps=8
# expect-line: optimizer.zero_grad(set_to_none=False)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(1, 1024)
    optimizer.zero_grad(set_to_none=False)
    nn.functional.mse_loss(net(x), x).backward()
    optimizer.step()
