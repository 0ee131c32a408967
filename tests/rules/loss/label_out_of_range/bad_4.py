"""The labels come first and the prediction second: the logarithm is taken of the labels."""

# expect-line: loss = criterion(y, out)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, :1] > 0).float()
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
criterion = nn.BCELoss()
opt = torch.optim.Adam(net.parameters(), lr=0.001)
for step in range(12):
    opt.zero_grad()
    out = net(x)
    loss = criterion(y, out)
    loss.backward()
    opt.step()
