"""A teacher in evaluation mode with gradients on, whose outputs the loss is made of."""

# profile: steps=8
import torch
from torch import nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4)).eval()
net = nn.Linear(64, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(256, 64)
    wanted = teacher(x).softmax(1)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x).softmax(1), wanted.detach()).backward()
    optimizer.step()
