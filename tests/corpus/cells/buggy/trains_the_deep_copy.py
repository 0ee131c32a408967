# case: stale-optimizer-trains-the-deep-copy
# kind: buggy
# expect: stale-optimizer
# allow: params-unchanged, loss-not-decreasing, plateau, backward-missing, param-not-in-optimizer, unused-parameter, uniform-prediction
# line: student = copy.deepcopy(teacher)
# style: copy.deepcopy after the optimizer of the original was made
# --- setup ---
import copy

import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor((X - X.mean(0)) / X.std(0)).float()
y = torch.tensor(y)
# --- cell ---
teacher = nn.Sequential(nn.Linear(13, 16), nn.Tanh(), nn.Linear(16, 3))
opt = torch.optim.SGD(teacher.parameters(), lr=0.1, momentum=0.9)
student = copy.deepcopy(teacher)
for it in range(50):
    loss = nn.functional.cross_entropy(student(X), y)
    student.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
