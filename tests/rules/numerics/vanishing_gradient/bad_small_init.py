"""Initial weights far too small: nothing comes back to the first layers, and the biases silence their units later."""

# expect-module: net.0
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.rand(1024, 16), torch.randint(0, 4, (1024,))
net = nn.Sequential(
    nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)
)
for part in net:
    if isinstance(part, nn.Linear):
        nn.init.normal_(part.weight, std=1e-4)
        nn.init.zeros_(part.bias)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

for epoch in range(5):
    for rows in torch.randperm(1024).split(32):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
