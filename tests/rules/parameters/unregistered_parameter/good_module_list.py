"""Layers in a ModuleList, and an LSTM, which keeps a list of its weights itself."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 8)
        self.rnn = nn.LSTM(8, 8, batch_first=True)
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        self.out = nn.Linear(8, 12, bias=False)
        self.out.weight = self.embed.weight
        self.sizes = [8, 8, 12]

    def forward(self, tokens):
        h, _ = self.rnn(self.embed(tokens))
        for block in self.blocks:
            h = torch.relu(block(h))
        return self.out(h)


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    tokens = torch.randint(0, 12, (16, 9))
    opt.zero_grad()
    F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
    opt.step()
