"""An average of the online network inside the model, detached and updated by hand."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(96, 8)


class Byol(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Linear(8, 4)
        self.predictor = nn.Sequential(nn.ReLU(), nn.Linear(4, 4))
        self.target = copy.deepcopy(self.online)

    def update(self):
        for o, t in zip(self.online.parameters(), self.target.parameters()):
            t.data = 0.99 * t.data + 0.01 * o.data

    def forward(self, a, b):
        return F.mse_loss(self.predictor(self.online(a)), self.target(b).detach())


net = Byol()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(20):
    opt.zero_grad()
    net(x + 0.1 * torch.randn_like(x), x).backward()
    opt.step()
    net.update()
