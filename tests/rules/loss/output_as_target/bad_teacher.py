# expect-line: loss = nn.functional.kl_div(logits.log_softmax(1), answer, reduction="batchmean")
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
teacher = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
student = teacher  # no copy
opt = torch.optim.SGD(student.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(256).split(32):
        opt.zero_grad()
        with torch.no_grad():
            answer = teacher(x[rows]).softmax(1)
        logits = student(x[rows])
        loss = nn.functional.kl_div(logits.log_softmax(1), answer, reduction="batchmean")
        loss.backward()
        opt.step()
