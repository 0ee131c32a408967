# case: nonfinite-gradient-norm-of-a-zero-residual
# kind: buggy
# expect: nonfinite-gradient
# allow: nonfinite-forward, loss-not-decreasing
# line: penalty = (delta ** 2).sum().sqrt()
# style: distance from the starting weights as penalty; zero at the first step
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn

torch.manual_seed(0)
iris = load_iris()
x = torch.tensor(iris.data).float()
x = (x - x.mean(0)) / x.std(0)
y = torch.tensor(iris.target)
model = nn.Linear(4, 3)
anchor = model.weight.detach().clone()
# --- cell ---
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    delta = model.weight - anchor
    penalty = (delta ** 2).sum().sqrt()
    loss = nn.functional.cross_entropy(model(x), y) + 0.01 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
