# expect-line: return -1 * self.ce(self.net(x), y)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))


class Objective(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net, self.ce = net, nn.CrossEntropyLoss()

    def forward(self, x, y):
        return -1 * self.ce(self.net(x), y)


objective = Objective(model)
opt = torch.optim.SGD(objective.parameters(), lr=0.1)
for step in range(40):
    opt.zero_grad()
    loss = objective(x, y)
    loss.backward()
    opt.step()
