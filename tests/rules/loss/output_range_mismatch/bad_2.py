"""A ReLU at the end, negative targets, and a squared error by hand."""

# expect-module: model
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(8, 16), nn.Linear(16, 1)

    def forward(self, x):
        return torch.relu(self.out(torch.tanh(self.hidden(x)))).squeeze(-1)


model = Regressor()
nn.init.ones_(model.out.bias)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(8):
    x = torch.randn(64, 8)
    target = x.sum(1)
    optimizer.zero_grad()
    loss = ((model(x) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
