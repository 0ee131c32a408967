"""The same with a table that is copied once, and batches that are new in each step."""

# profile: steps=8
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
table = torch.randn(512, 2000).to(device)
net = nn.Linear(512, 512).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.0001)
for step in range(12):
    x = torch.randn(256, 512).to(device)
    optimizer.zero_grad()
    score = net(x) @ table
    score.square().mean().backward()
    optimizer.step()
