# expect-line: self.optim = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)
import torch
from torch import nn

torch.manual_seed(0)


class Trainer:
    def __init__(self, net, lr):
        self.net = net
        self.optim = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)
        self.criterion = nn.MSELoss()

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            self.optim.zero_grad()
            loss = self.criterion(self.net(x), y)
            loss.backward()
            self.optim.step()


x = torch.randn(128, 6)
y = x.sum(1, keepdim=True)
Trainer(nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)), lr=4.0).fit(x, y, 60)
