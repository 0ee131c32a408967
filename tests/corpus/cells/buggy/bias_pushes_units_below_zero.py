# case: dead-relu-bias-pushes-units-below-zero
# kind: buggy
# expect: dead-relu
# allow: loss-not-decreasing, plateau, uniform-prediction, vanishing-gradient, params-unchanged
# module: act
# style: class with named activation module, biases initialised to -4
# --- setup ---
import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor((X - X.mean(0)) / X.std(0)).float(), torch.tensor(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(13, 32)
        self.act = nn.ReLU()
        self.out = nn.Linear(32, 3)
        nn.init.constant_(self.lin.bias, -4.0)

    def forward(self, x):
        return self.out(self.act(self.lin(x)))
# --- cell ---
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(10):
    for rows in torch.randperm(178).split(32):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        loss.backward()
        opt.step()
print(loss.item())
