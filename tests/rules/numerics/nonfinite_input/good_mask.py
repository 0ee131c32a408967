"""Minus infinity in an attention mask that is handed to the model is meant."""

import torch
from torch import nn


class Causal(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask):
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        scores = query @ key.transpose(1, 2) / 8**0.5 + mask
        return self.out(scores.softmax(-1) @ value)


torch.manual_seed(0)
net = Causal()
mask = torch.triu(torch.full((5, 5), float("-inf")), diagonal=1)
x = torch.randn(16, 5, 8)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

for step in range(8):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x, mask)[:, :-1], x[:, 1:])
    loss.backward()
    optimizer.step()
