import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
# expect-line: residuals = self.model(batch["x"]).squeeze(-1) - batch["y"]


class Trainer:
    def __init__(self):
        self.model = nn.Linear(3, 1)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def loss(self, batch):
        residuals = self.model(batch["x"]).squeeze(-1) - batch["y"]
        return residuals.square().mean()

    def fit(self, batches):
        for batch in batches:
            self.optimizer.zero_grad()
            self.loss(batch).backward()
            self.optimizer.step()


try:
    Trainer().fit([{"x": torch.randn(6, 3), "y": torch.randn(5)}])
except RuntimeError as error:
    raise ValueError("training failed") from error
