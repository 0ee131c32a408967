# case: detached-loss-error-rate-as-objective
# kind: buggy
# expect: detached-loss
# allow: params-unchanged, loss-not-decreasing, plateau, backward-missing
# line: wrong = (scores.argmax(dim=1) != classes).float().mean()
# style: minimises the error rate computed from argmax, requires_grad_ to silence the exception
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn

torch.manual_seed(0)
iris = load_iris()
inputs = torch.tensor(iris.data).float()
inputs = (inputs - inputs.mean(0)) / inputs.std(0)
classes = torch.tensor(iris.target)
# --- cell ---
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
adam = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(40):
    adam.zero_grad()
    scores = model(inputs)
    wrong = (scores.argmax(dim=1) != classes).float().mean()
    wrong.requires_grad_()
    wrong.backward()
    adam.step()
print("error rate", wrong.item())
