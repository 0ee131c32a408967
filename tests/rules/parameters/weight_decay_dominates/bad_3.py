"""Weight decay and momentum were exchanged: the decay is only some times the gradient, and eats all weights."""

# expect-line: optimizer = torch.optim.SGD(net.parameters(), lr=0.02, weight_decay=0.9, momentum=1e-4)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 10)
y = (x[:, :2].sum(1, keepdim=True) + 0.5 * torch.randn(256, 1)) / 1.5
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, weight_decay=0.9, momentum=1e-4)
criterion = nn.MSELoss()
for step in range(320):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
