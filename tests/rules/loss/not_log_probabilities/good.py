"""Log-probabilities in several spellings: log_softmax, a clamped logarithm, a sequence, a distillation."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randint(0, 4, (64,))
net, teacher = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)), nn.Linear(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
weight = torch.tensor([1.0, 2.0, 1.0, 0.5])

for step in range(10):
    optimizer.zero_grad()
    scores = net(x)
    loss = F.nll_loss(F.log_softmax(scores, 1), y, weight=weight)
    loss = loss + F.nll_loss(torch.log(scores.softmax(1).clamp(min=1e-6)), y)
    loss = loss + F.nll_loss(scores.view(8, 8, 4).log_softmax(-1).permute(0, 2, 1), y.view(8, 8))
    with torch.no_grad():
        soft = F.softmax(teacher(x) / 2, dim=1)
    loss = loss + F.kl_div(F.log_softmax(scores / 2, 1), soft, reduction="batchmean")
    loss.backward()
    optimizer.step()
