"""Values are clipped at the end of the iteration, by a method of a trainer."""

# expect-line: nn.utils.clip_grad_value_(self.model.parameters(), 0.1)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))


class Trainer:
    def __init__(self, model):
        self.model, self.opt = model, torch.optim.SGD(model.parameters(), lr=0.1)

    def clip(self):
        nn.utils.clip_grad_value_(self.model.parameters(), 0.1)

    def train_batch(self, rows):
        self.opt.zero_grad()
        F.cross_entropy(self.model(x[rows]), y[rows]).backward()
        self.opt.step()
        self.clip()


trainer = Trainer(net)
for rows in torch.randperm(192).split(16):
    trainer.train_batch(rows)
