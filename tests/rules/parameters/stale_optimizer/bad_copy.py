"""A trainer keeps a copy of the model that it built the optimizer for."""

# expect-line: self.model = copy.deepcopy(model)
import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(96, 8), torch.randint(0, 3, (96,))


class Trainer:
    def __init__(self, model):
        self.opt = torch.optim.SGD(model.parameters(), lr=1e-2)
        self.model = copy.deepcopy(model)

    def fit(self):
        for i in range(8):
            self.model.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.opt.step()


trainer = Trainer(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3)))
trainer.fit()
