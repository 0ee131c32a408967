"""Two workers that are started anew in each of many short epochs."""

# profile
# expect-line: for x, y in loader:
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(128, 16)
loader = DataLoader(TensorDataset(x, x[:, :1]), batch_size=16, shuffle=True, num_workers=2)
net = nn.Linear(16, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(6):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
