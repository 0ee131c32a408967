# case: backward-twice-features-computed-once
# kind: buggy
# expect: backward-twice
# raises: RuntimeError
# line: features = encoder(x)
# style: embedding of all inputs computed before the loop and used in every step
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn

torch.manual_seed(0)
iris = load_iris()
x = torch.tensor(iris.data).float()
x = (x - x.mean(0)) / x.std(0)
t = torch.tensor(iris.target)
encoder = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
head = nn.Linear(8, 3)
# --- cell ---
optimizer = torch.optim.SGD(list(encoder.parameters()) + list(head.parameters()), lr=0.1)
features = encoder(x)
for epoch in range(20):
    loss = nn.functional.cross_entropy(head(features), t)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
