"""The option to maximise stands on a line of its own."""

# expect-line: maximize=True,
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 4)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(
    net.parameters(),
    lr=0.1,
    maximize=True,
)

for epoch in range(4):
    for rows in torch.randperm(256).split(32):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
