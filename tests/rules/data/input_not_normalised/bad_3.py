"""Small numbers beside one that is smaller by far, one sequence after the other."""

# expect-module: net.rnn
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 8, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, series):
        return self.head(self.rnn(series)[0][:, -1])


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
scale = torch.tensor([1e-5, 2.0, 4.0])
for step in range(12):
    series = torch.randn(32, 10, 3) * scale
    optimizer.zero_grad()
    nn.functional.mse_loss(net(series), series[:, -1, 1:2]).backward()
    optimizer.step()
