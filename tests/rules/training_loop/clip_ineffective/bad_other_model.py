# expect-line: torch.nn.utils.clip_grad_norm_(teacher.parameters(), 0.5)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
teacher = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 4))
student = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(256).split(32):
        with torch.no_grad():
            answer = teacher(x[rows]).softmax(1)
        opt.zero_grad()
        loss = nn.functional.cross_entropy(student(x[rows]), answer)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(teacher.parameters(), 0.5)
        opt.step()
