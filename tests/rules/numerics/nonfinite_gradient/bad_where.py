"""where picks the sound branch; the gradient comes through the other as well."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(32, 4)

for step in range(5):
    optimizer.zero_grad()
    output = net(x)
    loss = torch.where(output > 0, output.sqrt(), output).mean()
    loss.backward()
    optimizer.step()
