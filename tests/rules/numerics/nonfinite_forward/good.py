"""A mask of minus infinity inside the model, and a logarithm that is kept from zero."""

import torch
from torch import nn


class Causal(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, 4)

    def forward(self, x):
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        scores = query @ key.transpose(1, 2) / 8**0.5
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
        return self.out(scores.softmax(-1) @ value)


torch.manual_seed(0)
net = Causal()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(16, 5, 8), torch.randint(0, 4, (16, 5))

for step in range(8):
    optimizer.zero_grad()
    share = net(x).softmax(-1).gather(-1, y.unsqueeze(-1))
    loss = -torch.log(share.clamp_min(1e-8)).mean()
    loss.backward()
    optimizer.step()
