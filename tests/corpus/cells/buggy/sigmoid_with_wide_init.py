# case: saturated-activation-sigmoid-with-wide-init
# kind: buggy
# expect: saturated-activation
# allow: vanishing-gradient, plateau, loss-not-decreasing, uniform-prediction
# module: squash
# style: hidden sigmoid after uniform_(-20, 20) initialisation
# --- setup ---
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data / 8 - 1).float(), torch.tensor(d.target)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(64, 48)
        self.squash = nn.Sigmoid()
        self.down = nn.Linear(48, 10)
        self.up.weight.data.uniform_(-20, 20)

    def forward(self, x):
        return self.down(self.squash(self.up(x)))
# --- cell ---
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for rows in torch.randperm(len(X)).split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        loss.backward()
        opt.step()
    print(epoch, loss.item())
