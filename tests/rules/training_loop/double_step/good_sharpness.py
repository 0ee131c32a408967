"""An optimizer that moves up, makes new gradients there, and lets the optimizer inside it step."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kw):
        super().__init__(params, dict(rho=rho, **kw))
        self.base = base(self.param_groups, **kw)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first(self):
        for g in self.param_groups:
            for p in g["params"]:
                e = p.grad * 0.05 / (p.grad.norm() + 1e-12)
                p.add_(e)
                self.state[p]["e"] = e

    @torch.no_grad()
    def second(self):
        for g in self.param_groups:
            for p in g["params"]:
                p.sub_(self.state[p]["e"])
        self.base.step()


net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
opt = SAM(net.parameters(), torch.optim.SGD, lr=0.1)
for i in range(12):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.first()
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.second()
