"""A student is compared with its teacher, but by its probabilities."""

# expect-line: loss = kl(student(x).softmax(-1), target)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
teacher, student = nn.Linear(8, 5), nn.Linear(8, 5)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
kl = nn.KLDivLoss(reduction="batchmean")
for step in range(6):
    x = torch.randn(32, 8)
    with torch.no_grad():
        target = teacher(x).softmax(-1)
    optimizer.zero_grad()
    loss = kl(student(x).softmax(-1), target)
    loss.backward()
    optimizer.step()
