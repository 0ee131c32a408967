# expect-line: return torch.optim.Adam(self.body.parameters(), lr=1e-2)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long()


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.head = nn.Linear(32, 2)

    def training_step(self, rows):
        return nn.functional.cross_entropy(self.head(self.body(x[rows])), y[rows])

    def configure_optimizers(self):
        return torch.optim.Adam(self.body.parameters(), lr=1e-2)


def fit(module):
    optimizer = module.configure_optimizers()
    for epoch in range(3):
        for rows in torch.randperm(256).split(32):
            optimizer.zero_grad()
            module.training_step(rows).backward()
            optimizer.step()


# --- cell ---
fit(Classifier())
