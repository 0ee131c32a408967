# case: output-as-target-student-distilled-from-itself
# kind: buggy
# expect: output-as-target
# allow: loss-not-decreasing, params-unchanged, vanishing-gradient
# line: loss = nn.functional.mse_loss(student(x), guide)
# style: compression of a trained network, the student bound to the teacher by an assignment
# --- setup ---
import torch
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from torch import nn

torch.manual_seed(0)
wine = load_wine()
x_all = torch.tensor(StandardScaler().fit_transform(wine.data), dtype=torch.float32)
labels = torch.tensor(wine.target)
teacher = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 3))
fit = torch.optim.Adam(teacher.parameters(), lr=1e-2)
for _ in range(40):
    fit.zero_grad()
    nn.functional.cross_entropy(teacher(x_all), labels).backward()
    fit.step()
# --- cell ---
student = teacher
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
for epoch in range(8):
    for rows in torch.randperm(len(x_all)).split(45):
        x = x_all[rows]
        with torch.no_grad():
            guide = teacher(x)
        loss = nn.functional.mse_loss(student(x), guide)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
