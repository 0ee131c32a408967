"""Batch norm and dropout mix and draw in training; a recurrent layer gets time first as it should."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.norm = nn.LSTM(6, 16), nn.BatchNorm1d(16)
        self.drop, self.head = nn.Dropout(0.3), nn.Linear(16, 3)

    def forward(self, x):
        hidden, _ = self.lstm(x.transpose(0, 1))
        return self.head(self.drop(self.norm(hidden[-1])))


net = Net()
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(320, 10, 6), torch.randint(0, 3, (320,))

for xb, yb in zip(x.split(20), y.split(20)):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(xb), yb).backward()
    optimizer.step()
