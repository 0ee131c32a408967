"""A student begins as its teacher, and gets other inputs: its first losses are next to 0."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
teacher = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4)).eval()
student = copy.deepcopy(teacher).train()
opt = torch.optim.SGD(student.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(256).split(32):
        opt.zero_grad()
        with torch.no_grad():
            answer = teacher(x[rows])
        loss = nn.functional.mse_loss(student(x[rows] + 0.1 * torch.randn_like(x[rows])), answer)
        loss.backward()
        opt.step()
