"""The head of a convolutional network is frozen."""

# expect-module: net.5
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))

net = nn.Sequential(
    nn.Conv1d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv1d(8, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)
)
net[5].requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(8):
    opt.zero_grad()
    F.cross_entropy(net(x[:, None]), y).backward()
    opt.step()
