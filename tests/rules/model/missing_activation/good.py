"""Activations in place, a low-rank layer, queries and keys of an embedding, and a residual block."""

import torch
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(1, 16)
        self.query, self.key, self.value = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        h = self.embed(x.unsqueeze(-1))
        mixed = torch.softmax(self.query(h) @ self.key(h).transpose(1, 2), -1) @ self.value(h)
        return mixed.mean(1)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 16))

    def forward(self, x):
        return x + self.layers(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.narrow = nn.Sequential(nn.Linear(8, 2), nn.Linear(2, 16), nn.ReLU(inplace=True), nn.Linear(16, 16))
        self.attention, self.residual, self.head = Attention(), Residual(), nn.Linear(32, 3)

    def forward(self, x):
        h = self.narrow(x)
        h = torch.relu(self.residual(h))
        return self.head(torch.cat([h, self.attention(x)], 1))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(512, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()

for epoch in range(3):
    for xb, yb in zip(x.split(32), y.split(32)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
