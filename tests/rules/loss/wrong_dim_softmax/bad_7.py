"""Attention over the members of one set at a time, without a batch, normalised over the queries."""

# expect-line: weights = torch.softmax(scores / 8**0.5, dim=0)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Members(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.drop, self.out = nn.Dropout(0.1), nn.Linear(8, 1)

    def forward(self, members):
        scores = self.query(members) @ self.key(members).T
        weights = torch.softmax(scores / 8**0.5, dim=0)
        return self.out(self.drop(weights) @ self.value(members)).mean()


net = Members()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(20):
    members = torch.randn(12, 8)
    optimizer.zero_grad()
    loss = F.mse_loss(net(members), members[:, 0].max())
    loss.backward()
    optimizer.step()
