"""A trainer keeps its loader; two classes of dicts, a label of the shape (N, 1) for a binary loss, and another sampler."""

# expect-line: self.train_loader = DataLoader(samples, sampler=SequentialSampler(samples), batch_size=20)
import torch
from torch import nn
from torch.utils.data import DataLoader, SequentialSampler


class Trainer:
    def __init__(self, samples):
        self.train_loader = DataLoader(samples, sampler=SequentialSampler(samples), batch_size=20)
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def fit(self, epochs):
        for _ in range(epochs):
            for batch in self.train_loader:
                self.optimizer.zero_grad()
                self.criterion(self.net(batch["x"]), batch["label"]).backward()
                self.optimizer.step()


torch.manual_seed(0)
data = [{"x": torch.randn(6) + (i >= 150), "label": torch.tensor([float(i >= 150)])} for i in range(300)]
Trainer(data).fit(2)
