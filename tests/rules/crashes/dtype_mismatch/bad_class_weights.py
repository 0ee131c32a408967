"""The class weights of the loss are of double precision."""

# expect-line: weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

x, y = torch.randn(96, 6), torch.randint(0, 3, (96,))
weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
net = nn.Linear(6, 3)
criterion = nn.CrossEntropyLoss(weight=weights)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    opt.zero_grad()
    criterion(net(x), y).backward()
    opt.step()
