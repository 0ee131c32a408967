# case: wrong-dim-softmax-attention-normalises-the-queries-repaired
# kind: healthy
# forbid: *
# style: hand-written self-attention, softmax over queries and not over keys
# --- setup ---
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
tokens = torch.randint(0, 20, (500, 9))
target = (tokens == 7).any(1).long()


class SelfAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))

    def forward(self, h):
        scores = self.q(h) @ self.k(h).transpose(1, 2) / math.sqrt(h.shape[-1])
        weights = F.softmax(scores, dim=-1)
        return weights @ self.v(h)


class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 16)
        self.att = SelfAttention(16)
        self.out = nn.Linear(16, 2)

    def forward(self, t):
        return self.out(torch.relu(self.att(self.emb(t))).mean(1))
# --- cell ---
finder = Finder()
opt = torch.optim.Adam(finder.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(500).split(50):
        loss = F.cross_entropy(finder(tokens[rows]), target[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
