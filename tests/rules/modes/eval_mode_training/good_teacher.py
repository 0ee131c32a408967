"""A student learns from a teacher that stays in evaluation mode, with soft targets."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.GELU(), nn.Dropout(0.3), nn.Linear(32, 4)).eval()
student = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.GELU(), nn.Linear(8, 4))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
x = torch.randn(64, 8)

for step in range(8):
    with torch.no_grad():
        soft = F.softmax(teacher(x) / 2, dim=1)
    optimizer.zero_grad()
    loss = F.cross_entropy(student(x) / 2, soft) * 4
    loss.backward()
    optimizer.step()
