"""The iterator is made anew in each step."""

# expect-line: xb, yb = next(iter(loader))
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(400, 8), torch.randint(0, 3, (400,))
loader = DataLoader(TensorDataset(x, y), batch_size=40)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for step in range(30):
    xb, yb = next(iter(loader))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
