"""Attention that is given its probability whatever the mode."""

# expect-line: y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p, is_causal=True)
# expect-module: net.attention
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
words = torch.cumsum(torch.randint(1, 4, (320, 13)), 1) % 11


class Attention(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p, self.inner, self.outer = p, nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (each.unflatten(2, (2, 8)).transpose(1, 2) for each in self.inner(x).split(16, 2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p, is_causal=True)
        return self.outer(y.transpose(1, 2).flatten(2))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.attention, self.head = nn.Embedding(11, 16), Attention(0.2), nn.Linear(16, 11)

    def forward(self, x):
        x = self.words(x)
        return self.head(torch.relu(x + self.attention(x)))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    net.train()
    for rows in torch.randperm(256).split(32):
        optimizer.zero_grad()
        F.cross_entropy(net(words[rows, :-1]).transpose(1, 2), words[rows, 1:]).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        loss = F.cross_entropy(net(words[256:, :-1]).transpose(1, 2), words[256:, 1:])
