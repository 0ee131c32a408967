# case: backward-missing-iris-loop-without-backward
# kind: buggy
# expect: backward-missing
# allow: params-unchanged, loss-not-decreasing, plateau
# line: solver.step()
# style: iris, full batch, while loop with a stopping test
# --- setup ---
import torch
import torch.nn as nn
from sklearn.datasets import load_iris

torch.manual_seed(0)
flowers = load_iris()
x = torch.tensor(flowers.data, dtype=torch.float32)
x = (x - x.mean(0)) / x.std(0)
species = torch.tensor(flowers.target)
# --- cell ---
mlp = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 3))
solver = torch.optim.SGD(mlp.parameters(), lr=0.3)
ce = nn.CrossEntropyLoss()
step, value = 0, 10.0
while value > 0.1 and step < 60:
    solver.zero_grad()
    error = ce(mlp(x), species)
    value = error.item()
    solver.step()
    step += 1
print(step, value)
