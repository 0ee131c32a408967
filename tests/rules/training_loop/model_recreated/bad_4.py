"""The first weights are loaded again for each epoch."""

# expect-line: net.load_state_dict(state)
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
state = {name: value.clone() for name, value in net.state_dict().items()}

for epoch in range(5):
    net.load_state_dict(state)
    for xb, yb in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(xb), yb).backward()
        optimizer.step()
