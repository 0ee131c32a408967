"""A trainer keeps its metrics as tensors, in a dict of lists."""

# expect-line: self.history["loss"].append(loss)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.history = {"loss": [], "lr": []}

    def fit(self, steps):
        for _ in range(steps):
            self.opt.zero_grad()
            out = self.model(x)
            loss = F.cross_entropy(out, y)
            loss.backward()
            self.opt.step()
            self.history["lr"].append(self.opt.param_groups[0]["lr"])
            self.history["loss"].append(loss)


Trainer(net).fit(20)
