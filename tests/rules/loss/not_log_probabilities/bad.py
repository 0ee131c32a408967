"""The scores go to the loss as they are."""

# expect-line: loss = criterion(scores, yb)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(128, 8), torch.randint(0, 4, (128,))
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
criterion = nn.NLLLoss()

for xb, yb in zip(x.split(16), y.split(16)):
    optimizer.zero_grad()
    scores = net(xb)
    loss = criterion(scores, yb)
    loss.backward()
    optimizer.step()
