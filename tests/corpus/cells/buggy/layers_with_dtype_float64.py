# case: dtype-float64-layers-with-dtype-float64
# kind: buggy
# expect: dtype-float64
# style: layers built with dtype=torch.float64, classification in a function
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.as_tensor((X - X.mean(0)) / X.std(0)), torch.as_tensor(y)


def build(dtype):
    return nn.Sequential(nn.Linear(13, 16, dtype=dtype), nn.Tanh(), nn.Linear(16, 3, dtype=dtype))


def train(net, steps):
    opt = torch.optim.SGD(net.parameters(), lr=0.2)
    for _ in range(steps):
        rows = torch.randint(0, 178, (40,))
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()
# --- cell ---
print(train(build(torch.float64), 50))
