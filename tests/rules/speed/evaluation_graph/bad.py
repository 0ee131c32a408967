"""An evaluation after each epoch, in evaluation mode and with gradients on."""

# profile: steps=8
# expect-line: correct += (net(x).argmax(1) == 0).sum()
# expect-module: net
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    net.train()
    for step in range(4):
        x, y = torch.randn(256, 64), torch.randint(0, 4, (256,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    net.eval()
    correct = 0
    for step in range(40):
        x = torch.randn(2048, 64)
        correct += (net(x).argmax(1) == 0).sum()
