# case: not-log-probabilities-distillation-kl-of-two-softmaxes
# kind: buggy
# expect: not-log-probabilities
# allow: loss-not-decreasing, plateau
# line: kd = kl(torch.softmax(student(x) / tau, 1), soft)
# style: knowledge distillation, KLDivLoss given probabilities for its input
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
teacher = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
fit = torch.optim.Adam(teacher.parameters(), lr=5e-3)
for _ in range(80):
    fit.zero_grad()
    nn.functional.cross_entropy(teacher(X), y).backward()
    fit.step()
teacher.requires_grad_(False).eval()
# --- cell ---
student = nn.Linear(64, 10)
opt = torch.optim.Adam(student.parameters(), lr=5e-3)
kl, tau = nn.KLDivLoss(reduction="batchmean"), 2.0
for epoch in range(3):
    for rows in torch.randperm(len(X)).split(100):
        x = X[rows]
        soft = torch.softmax(teacher(x) / tau, 1)
        kd = kl(torch.softmax(student(x) / tau, 1), soft)
        opt.zero_grad()
        kd.backward()
        opt.step()
    print(epoch, kd.item())
