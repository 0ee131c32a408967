"""Each sample's loss is read by itself."""

# expect-line: each.append(losses[i].item())
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(320, 4), torch.randint(0, 3, (320,))
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
each = []
for xb, yb in zip(x.split(32), y.split(32)):
    optimizer.zero_grad()
    losses = nn.functional.cross_entropy(net(xb), yb, reduction="none")
    for i in range(len(losses)):
        each.append(losses[i].item())
    losses.mean().backward()
    optimizer.step()
