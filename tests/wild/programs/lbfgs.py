"""A regression fitted by LBFGS with a closure and a line search."""

import torch
from sklearn.datasets import load_diabetes
from torch import nn

torch.manual_seed(0)
bunch = load_diabetes()
x = torch.tensor(bunch.data, dtype=torch.float32) * 20
y = torch.tensor(bunch.target, dtype=torch.float32).unsqueeze(1)
y = (y - y.mean()) / y.std()
net = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=10, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y) + 1e-3 * sum(p.pow(2).sum() for p in net.parameters())
    loss.backward()
    return loss


for _ in range(15):
    optimizer.step(closure)
result = list(net.state_dict().values())
