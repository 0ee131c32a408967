"""A large table that never changes is copied to the accelerator in each step."""

# needs: cuda
# profile: steps=8
# expect-line: score = net(x) @ table.to("cuda")
import torch
from torch import nn

torch.manual_seed(0)
table = torch.randn(512, 20000)
x = torch.randn(256, 512, device="cuda")
net = nn.Linear(512, 512).to("cuda")
optimizer = torch.optim.SGD(net.parameters(), lr=0.0001)
for step in range(12):
    optimizer.zero_grad()
    score = net(x) @ table.to("cuda")
    score.square().mean().backward()
    optimizer.step()
