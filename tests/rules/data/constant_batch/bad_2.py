"""The slice does not move."""

# expect-line: batch, target = x[:batch_size], y[:batch_size]
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(600, 8), torch.randn(600, 1)
batch_size = 50
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

for i in range(0, len(x), batch_size):
    batch, target = x[:batch_size], y[:batch_size]
    optimizer.zero_grad()
    nn.functional.mse_loss(net(batch), target).backward()
    optimizer.step()
