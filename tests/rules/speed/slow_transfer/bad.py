"""Large batches from ordinary memory for a small model."""

# needs: cuda
# profile: steps=8
# expect-line: x = torch.randn(4096, 4096).to("cuda")
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4096, 1).to("cuda")
optimizer = torch.optim.SGD(net.parameters(), lr=0.0001)
for step in range(12):
    x = torch.randn(4096, 4096).to("cuda")
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
