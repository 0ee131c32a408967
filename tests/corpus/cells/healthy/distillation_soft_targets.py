# case: healthy-distillation-soft-targets
# kind: healthy
# forbid: *
# style: knowledge distillation: frozen teacher in eval, log_softmax student, hard and soft loss
# --- setup ---
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
teacher = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Dropout(0.2), nn.Linear(96, 10))
warm = torch.optim.Adam(teacher.parameters(), lr=5e-3)
for _ in range(80):
    warm.zero_grad()
    F.cross_entropy(teacher(X), y).backward()
    warm.step()
teacher.eval()
student = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))
# --- cell ---
opt = torch.optim.Adam(student.parameters(), lr=5e-3)
tau, alpha = 3.0, 0.7
for epoch in range(4):
    for rows in torch.randperm(len(X)).split(64):
        with torch.no_grad():
            soft = F.softmax(teacher(X[rows]) / tau, dim=1)
        out = student(X[rows])
        kd = F.kl_div(F.log_softmax(out / tau, dim=1), soft, reduction="batchmean") * tau**2
        loss = alpha * kd + (1 - alpha) * F.cross_entropy(out, y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
