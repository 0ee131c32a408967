"""Float targets of one column are taken for probabilities of one class."""

# expect-line: loss = criterion(model(x), y)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(x)


model, criterion = Model(), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for step in range(6):
    x, y = torch.randn(32, 8), torch.randint(0, 2, (32, 1)).float()
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
