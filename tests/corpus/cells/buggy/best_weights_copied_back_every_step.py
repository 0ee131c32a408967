# case: params-unchanged-best-weights-copied-back-every-step
# kind: buggy
# expect: params-unchanged
# allow: loss-not-decreasing, plateau, model-recreated, uniform-prediction
# style: early-stopping helper restores the saved weights after every update
# --- setup ---
import torch
from sklearn.datasets import load_iris
from torch import nn

torch.manual_seed(0)
iris = load_iris()
X = torch.tensor(iris.data).float()
X = (X - X.mean(0)) / X.std(0)
t = torch.tensor(iris.target)


class KeepBest:
    def __init__(self, net):
        self.net = net
        self.saved = [p.detach().clone() for p in net.parameters()]

    def restore(self):
        with torch.no_grad():
            for p, s in zip(self.net.parameters(), self.saved):
                p.copy_(s)
# --- cell ---
net = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
keeper = KeepBest(net)
opt = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(40):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(X), t)
    loss.backward()
    opt.step()
    keeper.restore()
print(loss.item())
