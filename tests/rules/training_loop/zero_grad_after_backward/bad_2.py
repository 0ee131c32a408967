"""The reset of the model, to zeros, stands between backward and step in the method of a trainer."""

# expect-line: self.model.zero_grad(set_to_none=False)
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
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def train_step(self, batch):
        loss = F.cross_entropy(self.model(batch["x"]), batch["y"])
        loss.backward()
        self.model.zero_grad(set_to_none=False)
        self.opt.step()
        return loss.item()


trainer = Trainer(net)
for step in range(10):
    trainer.train_step({"x": x, "y": y})
