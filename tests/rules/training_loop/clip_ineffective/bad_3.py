"""A trainer clips, by a function it imported, what was just reset."""

# expect-line: clip_grad_norm_(self.model.parameters(), max_norm=1.0)
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))


class Trainer:
    def __init__(self, model):
        self.model, self.opt = model, torch.optim.RMSprop(model.parameters(), lr=1e-3)

    def step(self, xb, yb):
        loss = F.cross_entropy(self.model(xb), yb)
        self.opt.zero_grad(set_to_none=False)
        clip_grad_norm_(self.model.parameters(), max_norm=1.0)
        loss.backward()
        self.opt.step()


trainer = Trainer(net)
for i in range(0, 192, 16):
    trainer.step(x[i : i + 16], y[i : i + 16])
