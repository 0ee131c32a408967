"""Attention of several heads by einsum, normalised over the queries."""

# expect-line: weights = scores.softmax(dim=2)
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(10, 16), nn.Linear(16, 48), nn.Linear(16, 10)

    def forward(self, tokens):
        x = self.embed(tokens)
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, 2, 8).unbind(2)
        scores = torch.einsum("bqhe,bkhe->bhqk", q, k) / 8**0.5
        weights = scores.softmax(dim=2)
        mixed = torch.einsum("bhqk,bkhe->bqhe", weights, v).reshape(x.shape)
        return self.out(mixed[:, 0])


net = Attention()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(20):
    tokens = torch.randint(10, (16, 9))
    optimizer.zero_grad()
    loss = F.cross_entropy(net(tokens), tokens[:, 4])
    loss.backward()
    optimizer.step()
