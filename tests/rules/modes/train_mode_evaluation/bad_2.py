"""A trainer whose evaluate() knows neither eval() nor no_grad()."""

# expect-line: logits = self.model(x[128:])
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(160, 8)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:128], y[:128]), 32, shuffle=True)
valid = DataLoader(TensorDataset(x[128:], y[128:]), 16)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def fit(self, epochs):
        for _ in range(epochs):
            self.model.train()
            for xb, yb in train:
                self.optimizer.zero_grad()
                F.cross_entropy(self.model(xb), yb).backward()
                self.optimizer.step()
            self.evaluate()

    def evaluate(self):
        logits = self.model(x[128:])
        return (logits.argmax(1) == y[128:]).float().mean().item()


model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 2))
Trainer(model).fit(4)
