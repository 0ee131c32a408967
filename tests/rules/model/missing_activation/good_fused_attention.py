"""One layer makes queries, keys and values of an embedding, and cuts them in the ways that are common."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Chunked(nn.Module):
    def __init__(self):
        super().__init__()
        self.joint, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, h):
        query, key, value = self.joint(h).chunk(3, dim=-1)
        return self.out((query * 0.25 @ key.transpose(1, 2)).softmax(-1) @ value)


class Unbound(Chunked):
    def forward(self, h):
        heads = self.joint(h).view(len(h), -1, 3, 4, 4).permute(2, 0, 3, 1, 4)
        query, key, value = heads.unbind(0)
        mixed = F.scaled_dot_product_attention(query, key, value)
        return self.out(mixed.transpose(1, 2).reshape(h.shape))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.other = nn.Linear(2, 16), nn.Linear(2, 16)
        self.chunked, self.unbound, self.head = Chunked(), Unbound(), nn.Linear(16, 3)

    def forward(self, x):
        mixed = torch.relu(self.chunked(self.embed(x)) + self.unbound(self.other(x)))
        return self.head(mixed.mean(1))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(256, 5, 2)
y = (x[:, :, 0].mean(1) > 0).long() + (x[:, 0, 1] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
