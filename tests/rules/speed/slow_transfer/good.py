"""The same with data that is where it is needed."""

# profile: steps=8
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(256, 512, device=device)
net = nn.Linear(512, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.0001)
for step in range(12):
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
